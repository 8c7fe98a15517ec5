import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Filled, fillStore } from './store/fill.ts'
import { benchImport } from './store/import.ts'
import { benchSearch } from './store/search.ts'
import { benchStart } from './store/start.ts'
import { number, printRows, type Row } from './table.ts'

const rounds = 9
const many = { sessions: 100_000, messagesEach: 10, meanBytes: 400 }
const few = { sessions: 10, messagesEach: 10, meanBytes: 400 }
const large = { sessions: 1_000, messagesEach: 50, meanBytes: 2_048 }
const small = { sessions: 1_000, messagesEach: 50, meanBytes: 410 }
const megabyte = 1_000_000

const sizeRow = (what: string, { messageBytes, fileBytes }: Filled, most: number | null): Row => {
  const times = fileBytes / messageBytes
  return {
    what: `size of the store's file, ${what}`,
    figure: `${number(times, 2)} × ${number(messageBytes / megabyte)} MB of text`,
    goal: most === null ? '' : `≤ ${most} ×`,
    holds: most === null ? null : times <= most,
  }
}

const fillRow = ({ messages, messageBytes, seconds, indexSeconds }: Filled): Row => ({
  what: `write ${number(messages)} messages`,
  figure: `${number(messages / seconds)} /s, ${number(messageBytes / megabyte / seconds, 1)} MB/s, all found ${number(indexSeconds, 1)} s later`,
  goal: '',
  holds: null,
})

// Writes one large store, runs all measurements on it and removes it. Takes minutes.
const dir = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
try {
  const rows: Row[] = []
  const at = (name: string) => join(dir, `${name}.db`)
  const largeFilled = await fillStore(at('large'), large)
  const smallFilled = await fillStore(at('small'), small)
  await fillStore(at('few'), few)
  const manyFilled = await fillStore(at('many'), many)
  rows.push(sizeRow('2 KB a message', largeFilled, 1.7), sizeRow('0.4 KB a message', smallFilled, null))
  rows.push(sizeRow('0.4 KB, 10 a session', manyFilled, null), fillRow(manyFilled))

  const { fewMs, manyMs, firstPageMs } = await benchStart(dir, at('few'), at('many'), rounds)
  rows.push({
    what: 'first page of 100,000 sessions',
    figure: `${number(firstPageMs, 2)} ms`,
    goal: '< 10 ms',
    holds: firstPageMs < 10,
  })
  rows.push({
    what: 'start with 100,000 sessions',
    figure: `${number(manyMs, 1)} ms, with 10 ${number(fewMs, 1)} ms`,
    goal: '≤ 20 ms more',
    holds: manyMs - fewMs <= 20,
  })

  const { all, kinds } = await benchSearch(dir, at('many'), many.sessions)
  rows.push({
    what: 'search 1,000,000 messages',
    figure: `p95 ${number(all.p95Ms, 1)} ms, median ${number(all.p50Ms, 1)} ms, worst ${number(all.worstMs, 1)} ms`,
    goal: 'p95 < 50 ms',
    holds: all.p95Ms < 50,
  })
  for (const [kind, figures] of kinds) {
    rows.push({
      what: `  ${kind}`,
      figure: `p95 ${number(figures.p95Ms, 1)} ms, median ${number(figures.p50Ms, 1)} ms, ${number(figures.hits)} found`,
      goal: '',
      holds: null,
    })
  }

  const { longPerSecond, shortPerSecond } = await benchImport(dir, 3)
  for (const [what, perSecond] of [
    ['8 files of 8 MB', longPerSecond],
    ['2,000 files of 20 KB', shortPerSecond],
  ] as const) {
    rows.push({
      what: `import, ${what}`,
      figure: `${number(perSecond / megabyte, 1)} MB/s`,
      goal: '≥ 20 MB/s',
      holds: perSecond >= 20 * megabyte,
    })
  }
  printRows(rows)
  process.stdout.write(
    `load of the machine at the end: ${loadavg()
      .map((load) => number(load, 1))
      .join(', ')}\n`,
  )
} finally {
  await rm(dir, { recursive: true, force: true })
}
