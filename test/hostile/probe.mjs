import { readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/**
 * Loaded into the server with `--import`. Measures the longest stall of its event loop and its peak memory, and reports
 * both when asked. The time on the CPU is measured too: on a busy machine the wall clock also counts other processes.
 */
const tickMs = 5

if (isMainThread && process.send) {
  let longest = { stallMs: 0, cpuMs: 0 }
  let last = performance.now()
  let lastCpu = cpuMs()
  setInterval(() => {
    const [now, cpu] = [performance.now(), cpuMs()]
    const stall = { stallMs: now - last - tickMs, cpuMs: Math.min(cpu - lastCpu, now - last) }
    if (stall.cpuMs > longest.cpuMs) longest = { ...longest, cpuMs: stall.cpuMs }
    if (stall.stallMs > longest.stallMs) longest = { ...longest, stallMs: stall.stallMs }
    ;[last, lastCpu] = [now, cpu]
  }, tickMs).unref()
  process.on('message', () => {
    process.send?.({ ...longest, peakBytes: peakBytes() })
    longest = { stallMs: 0, cpuMs: 0 }
  })
  process.channel?.unref()
}

function cpuMs() {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** On Linux, `maxRSS` also counts the process that started this one. */
function peakBytes() {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
    if (kilobytes !== undefined) return Number(kilobytes) * 1024
  } catch {
    // not Linux
  }
  return process.resourceUsage().maxRSS * 1024
}
