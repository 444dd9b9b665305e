"""The examples validate against schemas/bench.schema.json by another validator, and a file
with a misspelt key does not."""

import glob
import json
import sys
import tomllib

import jsonschema

with open("schemas/bench.schema.json") as file:
    schema = json.load(file)
validator_class = jsonschema.validators.validator_for(schema)
validator_class.check_schema(schema)
validator = validator_class(schema)

examples = sorted(glob.glob("examples/*.toml"))
if not examples:
    sys.exit("no examples found")
for path in examples:
    with open(path, "rb") as file:
        bench = tomllib.load(file)
    errors = [f"{path}: {'/'.join(map(str, e.path))}: {e.message}" for e in validator.iter_errors(bench)]
    if errors:
        sys.exit("\n".join(errors))
    bench["matrix"] = {"blokcs": 3}
    if validator.is_valid(bench):
        sys.exit(f"{path}: a misspelt key passes the schema")
print(f"{len(examples)} examples validate against the schema, and a misspelt key does not")
