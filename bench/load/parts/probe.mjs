import { readdirSync, readFileSync } from 'node:fs'
import { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as nextSlice } from 'node:timers/promises'
import { queryObjects, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

/*
 * Loaded into the server with `--import`. Answers three questions of its parent: `reset` begins to measure the event
 * loop anew, `count` begins to count what is encoded, and `report` returns all figures after a collection of garbage.
 */
const resolutionMs = 2

if (isMainThread && process.send) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  const loop = monitorEventLoopDelay({ resolution: resolutionMs })
  let counted = null
  let cpu = process.cpuUsage()
  const reset = () => {
    loop.reset()
    loop.enable()
    cpu = process.cpuUsage()
    if (counted) counted.texts = counted.bytes = 0
  }
  const report = async (isCollected) => {
    loop.disable()
    const used = process.cpuUsage(cpu)
    const delays = [50, 95, 99].map((part) => Math.max(0, loop.percentile(part) / 1e6 - resolutionMs))
    for (let pass = 0; pass < (isCollected ? 4 : 0); pass++) {
      await nextSlice() // frees what is held only until the next slice
      collect()
    }
    const { rss, heapUsed, external } = process.memoryUsage()
    return {
      rssBytes: rss,
      heapBytes: heapUsed + external,
      ...readPrivate(),
      loop: { p50: delays[0], p95: delays[1], p99: delays[2], max: Math.max(0, loop.max / 1e6 - resolutionMs) },
      cpuMs: (used.user + used.system) / 1000,
      connections: countOf('TCPSocketWrap'),
      held: isCollected ? countHeld() : {},
      encoded: counted,
    }
  }
  process.on('message', async (question) => {
    if (question === 'count') counted ??= countEncodings()
    if (question === 'count' || question === 'reset') reset()
    process.send?.(question === 'report' || question === 'look' ? await report(question === 'report') : {})
  })
  process.channel?.unref()
}

const countOf = (name) => process.getActiveResourcesInfo().filter((one) => one === name).length

/** Counts what must not grow: descriptors, sockets, timers, listeners and streams. */
function countHeld() {
  return {
    descriptors: countDescriptors(),
    timers: countOf('Timeout'),
    sockets: queryObjects(Socket, { format: 'count' }),
    responses: queryObjects(ServerResponse, { format: 'count' }),
    streams: queryObjects(ReadableStream, { format: 'count' }),
    signals: queryObjects(AbortSignal, { format: 'count' }),
    processListeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
  }
}

/** Counts every text that becomes bytes: a frame that is encoded for each of its subscribers shows at once. */
function countEncodings() {
  const counted = { texts: 0, bytes: 0 }
  const { encode } = TextEncoder.prototype
  TextEncoder.prototype.encode = function countedEncode(text) {
    const bytes = encode.call(this, text)
    counted.texts += 1
    counted.bytes += bytes.byteLength
    return bytes
  }
  return counted
}

function countDescriptors() {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return 0 // not Linux
  }
}

/** Returns the memory that only this process uses. */
function readPrivate() {
  try {
    const rollup = readFileSync('/proc/self/smaps_rollup', 'utf8')
    const kilobytes = [...rollup.matchAll(/^Private_\w+:\s+(\d+) kB$/gm)].map(([, text]) => Number(text))
    return { privateBytes: 1024 * kilobytes.reduce((sum, one) => sum + one, 0) }
  } catch {
    return { privateBytes: 0 } // not Linux
  }
}
