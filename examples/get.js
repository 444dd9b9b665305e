// One request per iteration; assay sets users and duration from the bench, and the address here.
import http from 'k6/http';

export const options = { discardResponseBodies: true };

export default function () {
  http.get(__ENV.ASSAY_URL);
}
