use super::*;

const KEEP: Request = Request { head_only: false, persistence: Persistence::KeepAlive };
const CLOSE: Request = Request { head_only: false, persistence: Persistence::Close };

/// Reads `stream` whole, in twos, in sevens and byte by byte, and expects the same each time.
fn check(stream: impl AsRef<[u8]>, requests: &[Request], refused: Option<Refusal>) {
    let stream = stream.as_ref();
    let expected = Transcript { requests: requests.to_vec(), refused };
    for piece_bytes in [usize::MAX / 2, 7, 2, 1] {
        let seen = transcribe(stream, piece_bytes);
        let text = String::from_utf8_lossy(&stream[..stream.len().min(200)]);
        assert_eq!(seen, expected, "{text:?} in pieces of {piece_bytes}");
    }
}

fn refused(stream: impl AsRef<[u8]>, refusal: Refusal) {
    check(stream, &[], Some(refusal));
}

#[test]
fn persistence_by_version_and_header() {
    let http10 = Request { head_only: false, persistence: Persistence::KeepAliveHttp10 };
    for (stream, request) in [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", KEEP),
        ("GET / HTTP/1.1\r\n\r\n", KEEP),
        ("GET / HTTP/1.1\r\nConnection: keep-alive\r\n\r\n", KEEP),
        ("GET / HTTP/1.1\r\nconnection: x, CLOSE\r\n\r\n", CLOSE),
        ("GET / HTTP/1.1\r\nConnection: keep-alive, close\r\n\r\n", CLOSE),
        ("GET / HTTP/1.1\r\nConnection: closed\r\n\r\n", KEEP),
        ("GET / HTTP/1.0\r\n\r\n", CLOSE),
        ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", http10),
        ("GET / HTTP/1.1\n\n", KEEP),
        ("\r\n\n\r\nGET / HTTP/1.1\r\n\r\n", KEEP),
    ] {
        check(stream, &[request], None);
    }
}

#[test]
fn head_is_answered_by_a_head() {
    let head = Request { head_only: true, ..KEEP };
    check("HEAD / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n", &[head, KEEP], None);
}

#[test]
fn pipelined_requests_come_in_order_and_stop_at_a_close() {
    let get = "GET / HTTP/1.1\r\n\r\n";
    check(get.repeat(5), &[KEEP; 5], None);
    check(format!("{get}GET / HTTP/1.0\r\n\r\n{get}"), &[KEEP, CLOSE], None);
}

#[test]
fn bodies_are_read_in_full_and_discarded() {
    let get = "GET / HTTP/1.1\r\n\r\n";
    for body in [
        "Content-Length: 0\r\n\r\n",
        "Content-Length: 5\r\n\r\nhello",
        "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        "content-length:   5  \r\n\r\nhello",
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "transfer-encoding: Chunked\r\n\r\n5;name=value\r\nhello\r\n0A \r\n0123456789\r\n000\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n1\r\n\r\r\n0\r\nTrailer: x\r\nOther: y\r\n\r\n",
    ] {
        check(format!("POST / HTTP/1.1\r\n{body}{get}"), &[KEEP, KEEP], None);
    }
}

#[test]
fn a_truncated_request_is_nothing() {
    let whole = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    for cut in 0..whole.len() {
        check(&whole[..cut], &[], None);
    }
    check(whole, &[KEEP], None);
}

#[test]
fn bytes_that_are_no_request_are_refused() {
    for stream in [
        "\0",
        "\x16\x03\x01\x02\0\x01\0\x01\x7c\x03\x03\n",
        "GET / HTTP/2.0\r\n\r\n",
        "GET / HTTP/1.2\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon\r\n\r\n",
        "GET / HTTP/1.1\r\nName : x\r\n\r\n",
        "GET / HTTP/1.1\r\nA: x\r\n folded\r\n\r\n",
        "\rGET / HTTP/1.1\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        refused(stream, Refusal::Malformed);
    }
}

#[test]
fn ambiguous_framing_is_refused() {
    for headers in [
        "Content-Length: +5",
        "Content-Length: -1",
        "Content-Length: 0x5",
        "Content-Length:",
        "Content-Length: 5, 5",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: identity",
    ] {
        refused(format!("POST / HTTP/1.1\r\n{headers}\r\n\r\nhello"), Refusal::Malformed);
    }
    refused("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", Refusal::Malformed);
}

#[test]
fn broken_chunking_is_refused() {
    for body in [
        "\r\n",
        "g\r\n",
        "-1\r\n",
        ";x\r\n",
        "5\nhello",
        "5\r\nhelloX",
        "5\r\nhello\n",
        "5\rX",
        "5;a\nb\r\n",
        "0\r\n\n",
        "0\r\na\n",
        "0\r\na\rb",
        "0\r\n\rX",
        "00000000000000005\r\nhello",
    ] {
        refused(
            format!("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{body}"),
            Refusal::Malformed,
        );
    }
}

#[test]
fn bounds_of_the_head() {
    let head = |filler: usize| {
        let rest = "GET / HTTP/1.1\r\nX: \r\n\r\n".len();
        format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(filler - rest))
    };
    check(head(HEAD_MAX_BYTES), &[KEEP], None);
    refused(head(HEAD_MAX_BYTES + 1), Refusal::HeadTooLarge);
    refused("GET /".to_owned() + &"a".repeat(HEAD_MAX_BYTES), Refusal::HeadTooLarge);
    let headers = |count: usize| format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(count));
    check(headers(HEADERS_MAX), &[KEEP], None);
    refused(headers(HEADERS_MAX + 1), Refusal::HeadTooLarge);
}

#[test]
fn bounds_of_the_body() {
    let length = |bytes: &str| format!("POST / HTTP/1.1\r\nContent-Length: {bytes}\r\n\r\n");
    check(length("1073741824"), &[], None);
    refused(length("1073741825"), Refusal::BodyTooLarge);
    refused(length("99999999999999999999999999"), Refusal::BodyTooLarge);
    let chunked =
        |rest: &str| format!("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{rest}");
    check(chunked("40000000\r\n"), &[], None);
    refused(chunked("40000001\r\n"), Refusal::BodyTooLarge);
    refused(chunked("1\r\na\r\n40000000\r\n"), Refusal::BodyTooLarge);
    refused(chunked("ffffffffffffffff\r\n"), Refusal::BodyTooLarge);
    refused(chunked(&format!("0\r\n{}", "a".repeat(HEAD_MAX_BYTES + 1))), Refusal::HeadTooLarge);
    refused(chunked(&format!("1;{}", "a".repeat(HEAD_MAX_BYTES + 1))), Refusal::HeadTooLarge);
}

#[test]
fn waits_for_continue_only_while_the_body_is_not_there() {
    let head = b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
    let mut reader = Reader::default();
    let step = reader.step(head);
    assert_eq!(step, Step { consumed: head.len(), event: Event::ExpectsContinue });
    assert_eq!(reader.step(b"").event, Event::NeedMore);
    assert_eq!(reader.place(b""), Place::Body);
    assert_eq!(reader.step(b"ab"), Step { consumed: 2, event: Event::Request(KEEP) });
    assert_eq!(reader.place(b""), Place::Between);
    assert_eq!(reader.place(b"G"), Place::Head);
    let whole = [head.as_slice(), b"ab"].concat();
    assert_eq!(Reader::default().step(&whole).event, Event::Request(KEEP));
}
