//! The lock with real threads.

use std::sync::Mutex;

use interlock::{Cancel, DeviceLock};

#[test]
fn threads_are_served_in_the_order_they_came() {
    let (lock, served) = (DeviceLock::new(), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        let guard = lock.lock(100, &Cancel::new(), ()).unwrap();
        for worker in 0..16u16 {
            let (lock, served) = (&lock, &served);
            scope.spawn(move || {
                let _guard = lock.lock(worker, &Cancel::new(), ()).unwrap();
                served.lock().unwrap().push(worker);
            });
            while lock.waiting() <= worker.into() {
                std::thread::yield_now();
            }
        }
        drop(guard);
    });
    assert_eq!(*served.lock().unwrap(), (0..16).collect::<Vec<_>>());
    assert_eq!((lock.holder(), lock.waiting()), (None, 0));
}

#[test]
fn a_request_wakes_every_waiter() {
    let (lock, cancel) = (DeviceLock::new(), Cancel::new());
    let guard = lock.lock(100, &Cancel::new(), ()).unwrap();
    std::thread::scope(|scope| {
        let waiters: Vec<_> = (0..8)
            .map(|worker| {
                let (lock, cancel) = (&lock, &cancel);
                scope.spawn(move || lock.lock(worker, cancel, ()).is_err())
            })
            .collect();
        while lock.waiting() < 8 {
            std::thread::yield_now();
        }
        cancel.cancel();
        assert!(waiters.into_iter().all(|w| w.join().unwrap()));
    });
    assert_eq!(lock.waiting(), 0);
    drop(guard);
    assert!(
        lock.lock(1, &cancel, ()).is_err(),
        "and whoever comes later"
    );
}
