import { number } from '../table.ts'
import { startCrowd } from './parts/crowd.ts'
import { eventsPath, say, startLoadServer } from './parts/load-server.ts'
import { describe, megabytes } from './parts/percentiles.ts'
import type { Scenario } from './scenario.ts'

const startedAtOnce = 50

/** Many sessions are loaded, and a part of them streams, each to its driver. */
export const streamManySessions: Scenario = async ({ dir, isQuick }) => {
  const [sessions, streaming, rate, seconds] = isQuick ? [20, 5, 50, 1] : [1000, 100, 50, 10]
  const wish = { words: rate * seconds, bytes: 30, rate }
  await using server = await startLoadServer(dir)
  await using crowd = startCrowd()
  const handles = []
  for (let begun = 0; begun < sessions; begun += startedAtOnce)
    handles.push(
      ...(await Promise.all(Array.from({ length: Math.min(startedAtOnce, sessions - begun) }, server.start))),
    )
  const active = handles.slice(0, streaming)
  const paths = active.map((handle) => eventsPath(handle, '?attachment=driver&role=driver'))
  const warm = await Promise.all(active.map((handle) => say(handle, { ...wish, words: 5 })))
  await Promise.all(warm.map((finished) => finished()))
  await crowd.openEach(server.target(''), paths)
  await crowd.forget()
  await server.reset()
  const finished = await Promise.all(active.map((handle) => say(handle, wish)))
  const report = await crowd.waitForWords(wish.words)
  const { loop, cpuMs, rssBytes } = await server.look()
  await Promise.all(finished.map((wait) => wait()))
  const { heapBytes } = await server.report()
  await crowd.drop()
  const lost = streaming * wish.words - report.words
  const violations = [
    ...(lost > 0 ? [`${lost} of ${streaming * wish.words} words were lost`] : []),
    ...(report.missed > 0 ? [`${report.missed} gaps`] : []),
  ]
  const what = `${number(sessions)} sessions, ${number(streaming)} stream ${rate} words/s`
  const rows = [
    {
      what,
      figure: `${describe(report.late)}, ${lost} lost`,
      goal: 'p99 ≤ 100 ms, 0 lost',
      holds: report.late.p99 <= 100 && lost === 0,
    },
    {
      what: 'event loop delay meanwhile',
      figure: `${describe({ ...loop, count: 0 })}, ${number(cpuMs)} ms of CPU`,
      goal: 'p99 ≤ 50 ms',
      holds: loop.p99 <= 50,
    },
    {
      what: 'memory',
      figure: `${megabytes(heapBytes)} in use, resident ${megabytes(rssBytes)}`,
      goal: '',
      holds: null,
    },
  ]
  return {
    figures: { sessions, streaming, late: report.late, lost, loop, cpuMs, heapBytes, rssBytes },
    rows,
    violations,
  }
}
