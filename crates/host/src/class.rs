//! What kind of machine it is: bare, rented whole, shared, or one whose CPU is a credit (E-003,
//! K-125). A machine that spends credits measures well until they are gone, and then reads as a
//! regression of whatever runs on it.

use record::host_check::{
    Finding,
    FindingVerdict::{Caution, Good, Told, Unfit, Unknown},
};

use crate::finding::{With, finding, percent, unknown};
use crate::roots::Roots;

/// Stolen share of all CPU time above which a neighbour is in the figures.
const STEAL_SHARE_MAX: f64 = 0.005;
/// Ticks since boot under which a share of them says nothing: ten seconds of one core.
const TICKS_MIN: u64 = 1_000;

/// What a class does to a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Bare,
    Metal,
    Rented,
    Flex,
    Burstable,
    UnknownRented,
    Virtual,
    Unknown,
}

/// Class and steal.
pub(crate) fn findings(roots: &Roots) -> Vec<Finding> {
    let vendor = roots.sys("class/dmi/id/sys_vendor");
    let product = roots.sys("class/dmi/id/product_name");
    let is_virtual = is_virtual(roots, vendor.as_deref(), product.as_deref());
    let class = class_of(vendor.as_deref(), product.as_deref(), is_virtual);
    vec![class_finding(class, vendor, product), steal(roots, is_virtual)]
}

fn class_finding(class: Class, vendor: Option<String>, product: Option<String>) -> Finding {
    let named: Vec<String> = [vendor, product].into_iter().flatten().collect();
    let named = if named.is_empty() { "no DMI".to_owned() } else { named.join(" ") };
    let (verdict, word, effect) = match class {
        Class::Bare => (Good, "own machine", "nobody else's work is on it by design"),
        Class::Metal => (Good, "rented whole", "nobody else's work is on it by design"),
        Class::Rented => (Good, "rented, no CPU credits", "neighbours show as steal"),
        Class::Flex => (
            Caution,
            "shared baseline",
            "full speed for most of the time only: a slow hour reads as a regression",
        ),
        Class::Burstable => (
            Unfit,
            "burstable",
            "CPU is a credit: when it is spent the machine is throttled without a word, and that \
             reads as a regression of whatever runs",
        ),
        Class::UnknownRented => (
            Unknown,
            "rented, size not told",
            "it may be a burstable or shared-core size: look at the machine type where it was \
             rented",
        ),
        Class::Virtual => (
            Unknown,
            "virtual machine",
            "what it shares and whether its CPU is a credit is not told",
        ),
        Class::Unknown => (
            Unknown,
            "unknown",
            "neither vendor nor hypervisor are told: it may be shared or burstable",
        ),
    };
    let finding = finding("class", verdict, format!("{word} ({named})"), effect).deciding();
    match class {
        Class::Burstable | Class::Flex => finding.command(
            "aws ec2 modify-instance-attribute --instance-id ID --instance-type m7g.xlarge",
        ),
        _ => finding,
    }
}

/// The class of a machine by what its firmware says.
fn class_of(vendor: Option<&str>, product: Option<&str>, is_virtual: Option<bool>) -> Class {
    let (vendor_text, product_text) = (vendor.unwrap_or(""), product.unwrap_or(""));
    if vendor_text.starts_with("Amazon EC2") {
        return amazon(product_text);
    }
    let rented = [
        "Google",
        "Microsoft",
        "Alibaba",
        "DigitalOcean",
        "Hetzner",
        "OVH",
        "Scaleway",
        "Linode",
        "Vultr",
        "Oracle",
        "UpCloud",
        "Tencent",
    ];
    let is_rented = rented.iter().any(|name| vendor_text.starts_with(name));
    match is_virtual {
        Some(true) if is_rented => Class::UnknownRented,
        Some(true) => Class::Virtual,
        Some(false) if vendor.is_some() || product.is_some() => Class::Bare,
        _ => Class::Unknown,
    }
}

/// `t3.medium`, `m7g.xlarge`, `c7i-flex.large`, `m7g.metal`: family and generation, then size.
fn amazon(product: &str) -> Class {
    let (family, size) = product.split_once('.').unwrap_or((product, ""));
    let letters: String = family.chars().take_while(char::is_ascii_alphabetic).collect();
    let has_generation = family.chars().nth(letters.len()).is_some_and(|c| c.is_ascii_digit());
    match (letters.as_str(), has_generation) {
        ("t", true) => Class::Burstable,
        _ if family.ends_with("-flex") => Class::Flex,
        (_, true) if size.starts_with("metal") => Class::Metal,
        (_, true) => Class::Rented,
        _ => Class::UnknownRented,
    }
}

/// Whether the class is known to run at one clock: Graviton processors have no turbo and no SMT, and
/// their instances show no governor. `m7g`, `c7gn`, `r8gd`: a `g` right after the generation.
pub(crate) fn has_one_clock(roots: &Roots) -> bool {
    let vendor = roots.sys("class/dmi/id/sys_vendor").unwrap_or_default();
    let product = roots.sys("class/dmi/id/product_name").unwrap_or_default();
    vendor.starts_with("Amazon EC2") && is_graviton(&product)
}

fn is_graviton(product: &str) -> bool {
    let family = product.split('.').next().unwrap_or_default();
    let rest = family.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let generation = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    generation.len() < rest.len()
        && generation.starts_with('g')
        && amazon(product) != Class::Burstable
}

/// Whether there is a hypervisor below; `None` where neither processor nor firmware tell.
fn is_virtual(roots: &Roots, vendor: Option<&str>, product: Option<&str>) -> Option<bool> {
    if roots.sys("hypervisor/type").is_some() {
        return Some(true);
    }
    let cpuinfo = roots.proc("cpuinfo").unwrap_or_default();
    let flags = cpuinfo.lines().find_map(|line| line.strip_prefix("flags")?.split_once(':'));
    if let Some((_, flags)) = flags {
        return Some(flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"));
    }
    // No flag of the processor tells on arm64: the firmware's maker does.
    let makers = [
        "QEMU",
        "Amazon EC2",
        "Google",
        "VMware",
        "Xen",
        "innotek",
        "Parallels",
        "Hetzner",
        "Alibaba",
    ];
    let virtual_maker = vendor.map(|vendor| makers.iter().any(|maker| vendor.starts_with(maker)));
    virtual_maker.map(|is| is && !product.is_some_and(|product| product.ends_with(".metal")))
}

/// Time that a hypervisor gave to others, of all since boot.
fn steal(roots: &Roots, is_virtual: Option<bool>) -> Finding {
    const EFFECT: &str = "cores vanish for a moment: latency grows a tail, CPU accounts are wrong";
    let stat = roots.proc("stat").unwrap_or_default();
    let ticks: Vec<u64> = stat
        .lines()
        .find_map(|line| line.strip_prefix("cpu "))
        .map(|line| line.split_ascii_whitespace().filter_map(|tick| tick.parse().ok()).collect())
        .unwrap_or_default();
    // Guest time is part of user time already.
    let all: u64 = ticks.iter().take(8).sum();
    let stolen = ticks.get(7).filter(|_| all >= TICKS_MIN);
    match stolen {
        None if is_virtual == Some(false) => finding("steal", Good, "no hypervisor", EFFECT),
        None => unknown("steal", EFFECT).deciding(),
        Some(0) if is_virtual == Some(false) => finding("steal", Good, "none", EFFECT),
        Some(&stolen) => {
            let share = stolen as f64 / all as f64;
            let word = if share > STEAL_SHARE_MAX { Caution } else { Good };
            finding("steal", word, format!("{} of all CPU time since boot", percent(share)), EFFECT)
        }
    }
}

/// Name, kernel, architecture and processor: told, and nothing hangs on them.
pub(crate) fn identity(roots: &Roots) -> Finding {
    let cpuinfo = roots.proc("cpuinfo").unwrap_or_default();
    let of = |name: &str| {
        cpuinfo.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    };
    let part = || Some(format!("implementer {} part {}", of("CPU implementer")?, of("CPU part")?));
    let model = of("model name").or_else(part).unwrap_or_else(|| "unknown processor".to_owned());
    let kernel = roots.proc("sys/kernel/osrelease").unwrap_or_else(|| "unknown".to_owned());
    finding("machine", Told, format!("{model}, Linux {kernel}"), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instance_types_of_amazon() {
        let cases = [
            ("t2.micro", Class::Burstable),
            ("t3a.xlarge", Class::Burstable),
            ("t4g.2xlarge", Class::Burstable),
            ("trn1.2xlarge", Class::Rented),
            ("c7i-flex.large", Class::Flex),
            ("m7g.xlarge", Class::Rented),
            ("m7g.metal", Class::Metal),
            ("c5.metal", Class::Metal),
            ("HVM domU", Class::UnknownRented),
            ("", Class::UnknownRented),
        ];
        for (product, class) in cases {
            assert_eq!(amazon(product), class, "{product}");
        }
    }

    #[test]
    fn one_clock_by_class() {
        for product in ["m7g.xlarge", "c7gn.large", "r8gd.metal-24xl"] {
            assert!(is_graviton(product), "{product}");
        }
        for product in ["m7i.xlarge", "g5.xlarge", "t4g.small", "g5g", "mg.large", ""] {
            assert_eq!(is_graviton(product), product == "g5g", "{product}");
        }
    }

    #[test]
    fn a_machine_that_says_nothing_is_unknown() {
        assert_eq!(class_of(None, None, None), Class::Unknown);
        assert_eq!(class_of(None, None, Some(false)), Class::Unknown, "no maker, no word");
        assert_eq!(class_of(None, None, Some(true)), Class::Virtual);
        assert_eq!(class_of(Some("LENOVO"), Some("20XW"), Some(false)), Class::Bare);
        let azure = class_of(Some("Microsoft Corporation"), Some("Virtual Machine"), Some(true));
        assert_eq!(azure, Class::UnknownRented);
        let surface = class_of(Some("Microsoft Corporation"), Some("Surface"), Some(false));
        assert_eq!(surface, Class::Bare);
    }
}
