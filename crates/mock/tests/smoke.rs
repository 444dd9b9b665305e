use std::io::{Read, Write};
use std::net::TcpStream;
#[test]
fn serves() {
    let mut c = record::mock::MockConfig::default();
    c.set("latency", "2ms").unwrap();
    let s = mock::Server::bind(c).unwrap();
    let a = s.local_addr();
    let control = mock::Control::new().unwrap();
    let h = control.handle();
    let t = std::thread::spawn(move || s.run(control));
    let mut k = TcpStream::connect(a).unwrap();
    for _ in 0..100 {
        k.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let mut b = [0; 1000];
        let mut n = 0;
        while !b[..n].ends_with(&mock::body(128)) {
            n += k.read(&mut b[n..]).unwrap();
        }
    }
    drop(k);
    h.stop();
    let r = t.join().unwrap();
    println!("{r:#?}");
    assert_eq!((r.served, r.failed), (100, 0));
}
