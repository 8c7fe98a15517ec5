const tickMs = 500

/** Calls `onWake` when this process did not run for longer than `pauseMs`: it was stopped, or the machine slept. */
export function startWakeWatch(pauseMs: number, onWake: () => void, now = () => performance.now()) {
  let last = now()
  const timer = setInterval(() => {
    const at = now()
    const pausedMs = at - last - tickMs
    last = at
    if (pausedMs > pauseMs) onWake()
  }, tickMs)
  timer.unref()
  return { close: () => clearInterval(timer) }
}
