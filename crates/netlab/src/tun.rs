//! A TUN device: what the kernel routes to it can be read, what is written to it has arrived.

use std::fs::File;

use rustix::ioctl::{self, Setter, opcode};

use crate::Namespace;

/// `TUNSETIFF`.
const SET_INTERFACE: ioctl::Opcode = opcode::write::<i32>(b'T', 202);
/// `IFF_TUN | IFF_NO_PI`: IP packets, nothing before them.
const TUN_BARE: u16 = 0x0001 | 0x1000;
/// Bytes of a name, with its end.
const NAME_BYTES: usize = 16;

/// `struct ifreq`, as far as the call reads it.
#[repr(C)]
#[derive(Debug)]
struct Interface {
    name: [u8; NAME_BYTES],
    flags: u16,
    rest: [u8; 22],
}

/// Opens a device of this name in a namespace; it ends with the file.
///
/// # Panics
/// When the system has no TUN devices or refuses one.
pub(crate) fn open(namespace: &Namespace, name: &str) -> File {
    assert!(name.len() < NAME_BYTES, "a name of an interface");
    let mut interface = Interface { name: [0; NAME_BYTES], flags: TUN_BARE, rest: [0; 22] };
    interface.name[..name.len()].copy_from_slice(name.as_bytes());
    namespace.run(move || {
        let file = File::options().read(true).write(true).open("/dev/net/tun");
        let file = file.expect("/dev/net/tun: the kernel has TUN devices");
        attach(&file, interface).expect("a TUN device: these tests run as root");
        file
    })
}

#[expect(unsafe_code, reason = "a device is attached by a call that the library does not have")]
fn attach(file: &File, interface: Interface) -> rustix::io::Result<()> {
    // SAFETY: TUNSETIFF reads one `struct ifreq` of 40 bytes, which `Interface` is, and the setter
    // holds it for the time of the call.
    unsafe { ioctl::ioctl(file, Setter::<SET_INTERFACE, Interface>::new(interface)) }
}
