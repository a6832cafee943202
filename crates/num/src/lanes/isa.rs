//! The choice of an instruction set.

use super::Kernel;
#[cfg(any(test, not(target_arch = "x86_64")))]
use super::portable::Array;
use core::fmt;
use std::sync::OnceLock;

/// The environment variable that forces an instruction set.
const VARIABLE: &str = "COSTATE_ISA";

/// A set of instructions that kernels can run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Isa {
    /// One number at a time.
    Scalar,
    /// Arrays of four numbers, on any processor; on x86-64, which has registers for them, they are
    /// compiled into this crate's tests only and this is [`Scalar`](Isa::Scalar).
    Portable,
    /// x86-64's SSE2: two `f64` or four `f32`.
    Sse2,
    /// x86-64's AVX2: four `f64` or eight `f32`.
    Avx2,
    /// x86-64's AVX-512 (F, DQ and VL): eight `f64` or sixteen `f32`.
    Avx512,
}

impl Isa {
    /// Every instruction set, narrowest first.
    pub const ALL: [Isa; 5] = [Isa::Scalar, Isa::Portable, Isa::Sse2, Isa::Avx2, Isa::Avx512];

    /// The name as in `COSTATE_ISA`.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Scalar => "scalar",
            Isa::Portable => "portable",
            Isa::Sse2 => "sse2",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }
    /// The instruction set of the given name.
    ///
    /// # Errors
    /// [`IsaError::Unknown`] if there is none.
    pub fn from_name(name: &str) -> Result<Self, IsaError> {
        Isa::ALL
            .into_iter()
            .find(|isa| isa.name() == name)
            .ok_or_else(|| IsaError::Unknown(name.to_owned()))
    }
    /// Whether this processor has it.
    pub fn is_supported(self) -> bool {
        match self {
            Isa::Scalar | Isa::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Isa::Sse2 => true,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => std::is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => {
                std::is_x86_feature_detected!("avx512f")
                    && std::is_x86_feature_detected!("avx512dq")
                    && std::is_x86_feature_detected!("avx512vl")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Sse2 | Isa::Avx2 | Isa::Avx512 => false,
        }
    }
    /// The widest that this processor has.
    pub fn best() -> Self {
        let mut best = Isa::Scalar;
        for isa in Isa::ALL {
            if isa.is_supported() {
                best = isa;
            }
        }
        best
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why an instruction set cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IsaError {
    /// There is no instruction set of this name.
    Unknown(String),
    /// This processor does not have it.
    Unsupported(Isa),
}

impl fmt::Display for IsaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IsaError::Unknown(name) => write!(
                f,
                "`{name}` is no instruction set: {VARIABLE} takes scalar, portable, sse2, avx2 or avx512"
            ),
            IsaError::Unsupported(isa) => {
                write!(f, "this processor lacks {isa}; the widest that it has is {}", Isa::best())
            }
        }
    }
}

impl std::error::Error for IsaError {}

/// The instruction set a value of `COSTATE_ISA` asks for; unset or empty is the best.
fn choose(variable: Option<&str>) -> Result<Isa, IsaError> {
    match variable {
        None | Some("") => Ok(Isa::best()),
        Some(name) => {
            let isa = Isa::from_name(name)?;
            if isa.is_supported() { Ok(isa) } else { Err(IsaError::Unsupported(isa)) }
        }
    }
}

fn cached() -> &'static Result<Isa, IsaError> {
    static CHOICE: OnceLock<Result<Isa, IsaError>> = OnceLock::new();
    CHOICE.get_or_init(|| {
        let value = std::env::var_os(VARIABLE).map(|value| value.to_string_lossy().into_owned());
        choose(value.as_deref())
    })
}

/// The instruction set that [`dispatch`] uses: the one that the environment variable `COSTATE_ISA`
/// names (scalar, portable, sse2, avx2, avx512), otherwise the widest of this processor. It is
/// looked up once per process.
///
/// # Errors
/// If the variable names an unknown instruction set or one that the processor lacks. Programs report
/// this at their start; `dispatch` itself then uses the widest.
pub fn isa() -> Result<Isa, IsaError> {
    cached().clone()
}

/// A type of numbers that kernels run on: `f64` and `f32`.
pub trait Element: Copy + sealed::Sealed {
    #[doc(hidden)]
    /// # Safety
    /// The processor must support `isa`.
    unsafe fn enter<K: Kernel<Self>>(isa: Isa, kernel: K) -> K::Output;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f64 {}
    impl Sealed for f32 {}
}

/// Runs a kernel on the instruction set of [`isa`], or on the widest where that is an error.
#[inline]
pub fn dispatch<E: Element, K: Kernel<E>>(kernel: K) -> K::Output {
    let isa = match cached() {
        Ok(isa) => *isa,
        Err(_) => Isa::best(),
    };
    // SAFETY: `cached` and `best` give supported sets only.
    unsafe { E::enter(isa, kernel) }
}

/// Runs a kernel on the given instruction set.
///
/// # Errors
/// [`IsaError::Unsupported`] if this processor lacks it.
pub fn dispatch_on<E: Element, K: Kernel<E>>(isa: Isa, kernel: K) -> Result<K::Output, IsaError> {
    if !isa.is_supported() {
        return Err(IsaError::Unsupported(isa));
    }
    // SAFETY: just checked.
    Ok(unsafe { E::enter(isa, kernel) })
}

macro_rules! element {
    ($t:ty, $portable:ty, $sse2:ident, $avx2:ident, $avx512:ident) => {
        impl Element for $t {
            #[inline]
            unsafe fn enter<K: Kernel<Self>>(isa: Isa, kernel: K) -> K::Output {
                match isa {
                    Isa::Scalar => kernel.run::<$t>(),
                    #[cfg(any(test, not(target_arch = "x86_64")))]
                    Isa::Portable => kernel.run::<$portable>(),
                    // Every kernel would be compiled once more for arrays that registers here
                    // replace; one lane gives the same bits.
                    #[cfg(not(any(test, not(target_arch = "x86_64"))))]
                    Isa::Portable => kernel.run::<$t>(),
                    // SAFETY: the caller's promise.
                    #[cfg(target_arch = "x86_64")]
                    Isa::Sse2 if K::SSE2 => unsafe { super::x86::$sse2(kernel) },
                    #[cfg(target_arch = "x86_64")]
                    Isa::Sse2 => kernel.run::<$t>(),
                    // SAFETY: the caller's promise.
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 => unsafe { super::x86::$avx2(kernel) },
                    // SAFETY: the caller's promise.
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 => unsafe { super::x86::$avx512(kernel) },
                    #[cfg(not(target_arch = "x86_64"))]
                    Isa::Sse2 | Isa::Avx2 | Isa::Avx512 => kernel.run::<$t>(),
                }
            }
        }
    };
}
element!(f64, Array<f64, 4>, run_sse2, run_avx2, run_avx512);
element!(f32, Array<f32, 4>, run_sse2_f32, run_avx2_f32, run_avx512_f32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_selects_or_is_refused() {
        assert_eq!(choose(None), Ok(Isa::best()));
        assert_eq!(choose(Some("")), Ok(Isa::best()));
        assert_eq!(choose(Some("scalar")), Ok(Isa::Scalar));
        assert_eq!(choose(Some("mmx")), Err(IsaError::Unknown("mmx".into())));
        assert!(choose(Some("mmx")).unwrap_err().to_string().contains("`mmx`"));
        for isa in Isa::ALL {
            assert_eq!(Isa::from_name(isa.name()), Ok(isa));
            let expected =
                if isa.is_supported() { Ok(isa) } else { Err(IsaError::Unsupported(isa)) };
            assert_eq!(choose(Some(isa.name())), expected);
        }
    }
}
