import { number, type Row } from '../table.ts'
import { type Crowd, type CrowdReport, startCrowd } from './parts/crowd.ts'
import { forkPart, nextMessage } from './parts/fork-part.ts'
import { eventsPath, type LoadServer, say, startLoadServer, type Words } from './parts/load-server.ts'
import { describe, megabytes, percentilesOf } from './parts/percentiles.ts'
import type { Scenario } from './scenario.ts'

/** The size of a delta frame of Holdfast with such a word. */
const eventBytes = 240
const wordBytes = 60
const rate = 20
/** The p99 of 1,000 viewers may be this many times that of the bare server. */
const ratioMax = 1.2

type Watched = CrowdReport & { readonly cpuMs: number; readonly rssBytes: number; readonly heapBytes: number }

/** Many viewers watch one session. The same crowd watches a bare server of events, alternating. */
export const watchWithViewers: Scenario = async ({ dir, isQuick }) => {
  const counts = isQuick ? [20] : [200, 1000]
  const rounds = isQuick ? 1 : 3
  const wish = { words: isQuick ? 20 : 200, bytes: wordBytes, rate: isQuick ? 200 : rate }
  await using server = await startLoadServer(dir)
  await using crowd = startCrowd()
  const rows: Row[] = []
  const violations: string[] = []
  const figures: unknown[] = []
  for (const viewers of counts) {
    const own: Watched[] = []
    const bare: CrowdReport[] = []
    await watchOwn(server, crowd, viewers, { ...wish, words: 20 }) // warm-up: compiles code, grows buffers
    for (let round = 0; round < rounds; round++) {
      own.push(await watchOwn(server, crowd, viewers, wish))
      bare.push(await watchBare(crowd, viewers, wish))
    }
    violations.push(...own.flatMap((one) => checkAll(one, viewers, wish.words)))
    const measured = { viewers, own, bare }
    figures.push(measured)
    rows.push(...rowsOf(measured))
  }
  rows.push(await countEncodings(server, crowd, Math.max(...counts), violations))
  return { figures, rows, violations }
}

async function watchOwn(server: LoadServer, crowd: Crowd, viewers: number, wish: Words): Promise<Watched> {
  const handle = await server.start()
  await crowd.open(server.target(eventsPath(handle)), viewers)
  const finished = await say(handle, wish)
  await crowd.waitForWords(wish.words / 10) // the records of the beginning come at once
  await crowd.forget()
  await server.reset()
  const report = await crowd.waitForWords(wish.words)
  const { cpuMs } = await server.look()
  await finished()
  const { rssBytes, heapBytes } = await server.report()
  await crowd.drop()
  return { ...report, cpuMs, rssBytes, heapBytes }
}

async function watchBare(crowd: Crowd, viewers: number, { words, rate }: Words): Promise<CrowdReport> {
  await using bare = forkPart('bare-server.ts')
  const { port } = (await nextMessage(bare.process)) as { readonly port: number } // its first message
  await crowd.open({ url: `http://127.0.0.1:${port}`, path: '/', token: '' }, viewers)
  const written = bare.ask({ words, bytes: eventBytes, rate })
  await crowd.waitForWords(words / 10)
  await crowd.forget()
  const report = await crowd.waitForWords(words)
  await written
  await crowd.drop()
  return report
}

/** Shows events to one viewer and to many: the number of texts that are encoded must be the same. */
async function countEncodings(server: LoadServer, crowd: Crowd, viewers: number, violations: string[]): Promise<Row> {
  const words = 50
  await server.countEncodings()
  const count = async (watching: number) => {
    const handle = await server.start()
    await crowd.open(server.target(eventsPath(handle)), watching)
    await server.reset()
    const finished = await say(handle, { words, bytes: wordBytes, rate: 200 })
    await finished()
    await crowd.waitForWords(words)
    const { encoded } = await server.look()
    await crowd.drop()
    return encoded?.texts ?? Number.NaN
  }
  const [one, many] = [await count(1), await count(viewers)]
  // Heartbeats and other requests encode a few texts too; one text for each viewer is many more.
  const holds = many - one < Math.min(words, viewers)
  if (!holds) violations.push(`${one} texts were encoded for one viewer, ${many} for ${viewers}`)
  return {
    what: `texts encoded for ${words} words: 1 viewer, ${number(viewers)} viewers`,
    figure: `${one}, ${many}`,
    goal: 'the same',
    holds,
  }
}

function checkAll({ missed, leastWords, open }: CrowdReport, viewers: number, words: number): readonly string[] {
  return [
    ...(missed > 0 ? [`${missed} gaps in what ${viewers} viewers got`] : []),
    ...(leastWords < words ? [`one of ${viewers} viewers got ${leastWords} of ${words} words`] : []),
    ...(open < viewers ? [`${viewers - open} of ${viewers} viewers were cut`] : []),
  ]
}

type Compared = { readonly viewers: number; readonly own: readonly Watched[]; readonly bare: readonly CrowdReport[] }

const middle = (values: readonly number[]) => percentilesOf(values).p50

function rowsOf({ viewers, own, bare }: Compared): readonly Row[] {
  const [p99, bareP99] = [middle(own.map(({ late }) => late.p99)), middle(bare.map(({ late }) => late.p99))]
  const ratio = middle(own.map(({ late }, round) => late.p99 / (bare[round]?.late.p99 ?? Number.NaN)))
  const many = number(viewers)
  const [first, last] = [own[0], own.at(-1)]
  const grown = (last?.heapBytes ?? Number.NaN) - (first?.heapBytes ?? Number.NaN)
  const median = (all: readonly CrowdReport[], value: number) => all.find(({ late }) => late.p99 === value)?.late
  const show = (late: CrowdReport['late'] | undefined) => (late ? describe(late) : '')
  return [
    {
      what: `${many} viewers, ${rate} events/s`,
      figure: `${show(median(own, p99))}, ${number(first?.cpuMs ?? 0)} ms of CPU`,
      goal: 'p99 ≤ 150 ms',
      holds: p99 <= 150,
    },
    { what: `${many} viewers of a bare server`, figure: show(median(bare, bareP99)), goal: '', holds: null },
    {
      what: `${many} viewers: p99 compared with the bare server`,
      figure: `${number(ratio, 2)} times`,
      goal: viewers >= 1000 ? `≤ ${ratioMax} times` : '',
      holds: viewers >= 1000 ? ratio <= ratioMax : null,
    },
    {
      what: `${many} viewers: memory in use, growth over ${own.length} rounds`,
      figure: `${megabytes(grown)}, resident ${megabytes(last?.rssBytes ?? 0)}`,
      goal: '< 1 MB',
      holds: grown < 1024 ** 2,
    },
  ]
}
