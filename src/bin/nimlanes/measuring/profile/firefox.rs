//! The format of Firefox's profiler, <https://profiler.firefox.com>.

use std::time::SystemTime;

use fxprof_processed_profile::{
    CategoryHandle, CpuDelta, Frame, FrameFlags, FrameInfo, Profile, SamplingInterval, Timestamp,
};

use super::picture::{Stacks, in_order};

/// Stacks as a profile of one thread. When a sample was taken is not kept: those of a stack are one, weighted by their number and as long.
pub fn json(id: &str, subtitle: &str, stacks: &Stacks, frequency: u32) -> serde_json::Result<Vec<u8>> {
    let interval = SamplingInterval::from_hz(frequency as f32).nanos();
    let mut profile = Profile::new(id, SystemTime::now().into(), SamplingInterval::from_nanos(interval));
    let mut time = 0;
    let process = profile.add_process(subtitle, 0, Timestamp::from_nanos_since_reference(time));
    let thread = profile.add_thread(process, 0, Timestamp::from_nanos_since_reference(time), true);
    let mut stacks: Vec<_> = stacks.iter().collect();
    stacks.sort_by_cached_key(|(stack, _)| in_order(stack));
    for (stack, &count) in stacks {
        let frames: Vec<FrameInfo> = stack
            .split(';')
            .map(|name| FrameInfo {
                frame: Frame::Label(profile.intern_string(name)),
                category_pair: CategoryHandle::OTHER.into(),
                flags: FrameFlags::empty(),
            })
            .collect();
        let innermost = profile.intern_stack_frames(thread, frames.into_iter());
        let took = CpuDelta::from_nanos(count * interval);
        profile.add_sample(thread, Timestamp::from_nanos_since_reference(time), innermost, took, count as i32);
        time += count * interval;
    }
    profile.set_process_end_time(process, Timestamp::from_nanos_since_reference(time));
    serde_json::to_vec(&profile)
}
