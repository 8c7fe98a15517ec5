import type { CrowdOrder, CrowdReport } from './crowd.ts'
import { percentilesOf } from './percentiles.ts'
import { openViewer, type Seen, type Target, type Viewer } from './viewer.ts'

/* Many viewers in a process of their own: what they do is not the server's work. */

let viewers: Viewer[] = []
let target: Target = { url: '', path: '', token: '' }
const late: number[] = []
const noteLate = (ms: number) => void late.push(ms)

const isThere = ({ events }: Seen) => events.size > 0

async function open(asked: Target, paths: readonly string[]): Promise<void> {
  target = asked
  viewers = paths.map((path) => openViewer({ ...target, path }, noteLate))
  await Promise.all(viewers.map((viewer) => viewer.until(isThere)))
}

/** Comes back with the cursor of each viewer. */
async function reopen(upTo: number): Promise<void> {
  viewers = viewers.map(({ seen }) => openViewer(target, noteLate, Math.max(0, seen.lastId)))
  await Promise.all(viewers.map((viewer) => viewer.until(({ lastId }) => lastId >= upTo)))
}

/** Attaches and leaves `count` times, `atOnce` at a time. A number takes the place of `{n}` in the path. */
async function cycle(asked: Target, count: number, atOnce: number): Promise<void> {
  let begun = 0
  const one = async () => {
    while (begun < count) {
      const path = asked.path.replace('{n}', String(begun++))
      const viewer = openViewer({ ...asked, path }, noteLate)
      await viewer.until(isThere)
      if (viewer.seen.isClosed) throw new Error(`a viewer was refused with ${viewer.seen.status}`)
      viewer.socket.destroy()
      await viewer.until(() => false)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}

function report(): CrowdReport {
  const sum = (of: (seen: Seen) => number) => viewers.reduce((total, { seen }) => total + of(seen), 0)
  return {
    late: percentilesOf(late),
    viewers: viewers.length,
    open: sum(({ isClosed }) => (isClosed ? 0 : 1)),
    words: sum(({ words }) => words),
    records: sum(({ records }) => records),
    missed: sum(({ missed }) => missed),
    leastWords: Math.min(...viewers.map(({ seen }) => seen.words)),
    leastRecords: Math.min(...viewers.map(({ seen }) => seen.records)),
    mostRecords: Math.max(...viewers.map(({ seen }) => seen.records)),
    lastId: Math.min(...viewers.map(({ seen }) => seen.lastId)),
    ends: viewers.flatMap(({ seen }) => (seen.end === null ? [] : [seen.end])),
  }
}

async function obey(order: CrowdOrder): Promise<CrowdReport | null> {
  switch (order.do) {
    case 'open':
      await open(order.target, order.paths)
      return report()
    case 'forget':
      late.length = 0
      return null
    case 'report':
      return report()
    case 'wait':
      await Promise.all(viewers.map((viewer) => viewer.until(({ words }) => words >= order.words)))
      return report()
    case 'wait-records':
      await Promise.all(viewers.map((viewer) => viewer.until(({ lastId }) => lastId >= order.upTo)))
      return report()
    case 'wait-closed':
      await Promise.all(viewers.map((viewer) => viewer.until(() => false)))
      return report()
    case 'drop':
      for (const { socket } of viewers) socket.destroy()
      await Promise.all(viewers.map((viewer) => viewer.until(() => false)))
      return report()
    case 'reopen':
      await reopen(order.upTo)
      return report()
    case 'cycle':
      await cycle(order.target, order.count, order.atOnce)
      return null
  }
}

process.on('message', (order: CrowdOrder) => {
  obey(order).then(
    (done) => process.send?.({ done }),
    (cause) => process.send?.({ failed: String(cause) }),
  )
})
process.once('disconnect', () => process.exit()) // the parent has ended
