//! Permits: memory and a count, held from the start of a partition's synthesis to the end of its
//! finish. Pure bookkeeping; who is asked next is `order`'s.
//!
//! Under dispatch `batch` a proof's permits are promised together with its first one: partitions
//! that are withheld hold permits, so two half-synthesised batches could otherwise wait for each
//! other for ever.

/// What a partition waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// Memory.
    Bytes,
    /// A place among the partitions in flight.
    Count,
}

/// A claim: so many permits, of so many bytes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claim {
    /// Permits.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
}

/// The permits of a process.
#[derive(Clone, Debug, Default)]
pub struct Permits {
    total: Claim,
    held: Claim,
    promised: Claim,
}

impl Permits {
    /// Sets how many there are. What is held stays held, even if it is more than that.
    pub fn set_total(&mut self, count: u64, bytes: u64) {
        self.total = Claim { count, bytes };
    }

    /// How many there are.
    pub fn total(&self) -> Claim {
        self.total
    }

    /// How many are held.
    pub fn held(&self) -> Claim {
        self.held
    }

    /// What `claim` lacks, if anything, when `spare` must stay free after it.
    pub fn shortage(&self, claim: Claim, spare: Claim) -> Option<Shortage> {
        let count = self.held.count + self.promised.count + claim.count + spare.count;
        let bytes = self.held.bytes.saturating_add(self.promised.bytes);
        let bytes = bytes
            .saturating_add(claim.bytes)
            .saturating_add(spare.bytes);
        if count > self.total.count {
            Some(Shortage::Count)
        } else if bytes > self.total.bytes {
            Some(Shortage::Bytes)
        } else {
            None
        }
    }

    /// Keeps `claim` for a proof. It must not be short.
    pub fn promise(&mut self, claim: Claim) {
        self.promised.count += claim.count;
        self.promised.bytes += claim.bytes;
    }

    /// Gives a promise up, or the part of it that will not be used.
    pub fn unpromise(&mut self, claim: Claim) {
        self.promised.count = self.promised.count.saturating_sub(claim.count);
        self.promised.bytes = self.promised.bytes.saturating_sub(claim.bytes);
    }

    /// Takes one permit of `bytes`. The claim must not be short, or have been promised and
    /// unpromised just before.
    pub fn take(&mut self, bytes: u64) {
        self.held.count += 1;
        self.held.bytes += bytes;
    }

    /// Gives one permit of `bytes` back.
    pub fn release(&mut self, bytes: u64) {
        self.held.count = self.held.count.saturating_sub(1);
        self.held.bytes = self.held.bytes.saturating_sub(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Claim = Claim { count: 0, bytes: 0 };

    fn claim(count: u64, bytes: u64) -> Claim {
        Claim { count, bytes }
    }

    #[test]
    fn count_and_bytes_are_both_limits() {
        let mut permits = Permits::default();
        permits.set_total(2, 100);
        assert_eq!(permits.shortage(claim(1, 101), NONE), Some(Shortage::Bytes));
        permits.take(60);
        assert_eq!(permits.shortage(claim(1, 41), NONE), Some(Shortage::Bytes));
        assert_eq!(permits.shortage(claim(1, 40), NONE), None);
        permits.take(40);
        assert_eq!(permits.shortage(claim(1, 0), NONE), Some(Shortage::Count));
        permits.release(60);
        assert_eq!(permits.held(), claim(1, 40));
        assert_eq!(permits.shortage(claim(1, 60), NONE), None);
    }

    #[test]
    fn a_spare_permit_stays_free() {
        let mut permits = Permits::default();
        permits.set_total(2, 100);
        assert_eq!(permits.shortage(claim(1, 50), claim(1, 50)), None);
        permits.take(50);
        assert_eq!(
            permits.shortage(claim(1, 50), claim(1, 50)),
            Some(Shortage::Count)
        );
        assert_eq!(permits.shortage(claim(1, 50), NONE), None);
    }

    #[test]
    fn a_promised_batch_is_nobody_else_s() {
        let mut permits = Permits::default();
        permits.set_total(4, 400);
        permits.promise(claim(3, 300));
        assert_eq!(permits.shortage(claim(2, 100), NONE), Some(Shortage::Count));
        assert_eq!(permits.shortage(claim(1, 101), NONE), Some(Shortage::Bytes));
        permits.unpromise(claim(1, 100));
        permits.take(100);
        assert_eq!(permits.shortage(claim(2, 100), NONE), Some(Shortage::Count));
        permits.unpromise(claim(2, 200));
        assert_eq!(permits.shortage(claim(3, 300), NONE), None);
    }

    #[test]
    fn a_total_lowered_below_what_is_held_takes_nothing_away() {
        let mut permits = Permits::default();
        permits.set_total(2, 100);
        permits.take(50);
        permits.take(50);
        permits.set_total(1, 50);
        assert_eq!(permits.held(), claim(2, 100));
        permits.release(50);
        assert_eq!(permits.shortage(claim(1, 1), NONE), Some(Shortage::Count));
        permits.release(50);
        assert_eq!(permits.shortage(claim(1, 50), NONE), None);
    }
}
