import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createDice } from '@holdfast/testkit'
import { openHoldfast } from '../../packages/holdfast/src/entry/index.ts'
import { createZipfText } from '../fixtures/zipf-text.ts'
import { median } from '../median.ts'

export type ImportFigures = {
  /** From a few long sessions. */
  readonly longPerSecond: number
  /** From a directory of thousands of short sessions. */
  readonly shortPerSecond: number
}

const megabyte = 1_000_000
const meanBytes = 1_000
/** What a line has besides its text, about. */
const lineBytes = 300
/** A file with less room than this ends with the answer that fills it. */
const roundBytes = 1_500

/** Measures imported bytes per second, from the call to the report, with every session on disk. */
export async function benchImport(dir: string, rounds: number): Promise<ImportFigures> {
  const long = await writeImportFiles(join(dir, 'import-long'), 8, 8 * megabyte)
  const short = await writeImportFiles(join(dir, 'import-short'), 2_000, 20_000)
  const rates = { long: [] as number[], short: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    rates.long.push(await rateOf(dir, `long-${round}`, long))
    rates.short.push(await rateOf(dir, `short-${round}`, short))
  }
  return { longPerSecond: median(rates.long), shortPerSecond: median(rates.short) }
}

async function rateOf(dir: string, name: string, from: string): Promise<number> {
  const path = join(dir, `import-${name}.db`)
  await using holdfast = await openHoldfast({
    store: `sqlite:${path}`,
    environment: { HOLDFAST_HOME: join(dir, 'home') },
  })
  const start = performance.now()
  const files = await holdfast.import(from)
  const seconds = (performance.now() - start) / 1000
  const bad = files.find(({ status }) => status !== 'imported')
  if (bad) throw new Error(`${bad.file} was ${bad.status}`)
  return files.reduce((sum, { bytes }) => sum + bytes, 0) / seconds
}

/** Writes files of Claude Code of about `bytesEach`: prompts, tool calls, results and answers. */
export async function writeImportFiles(dir: string, count: number, bytesEach: number): Promise<string> {
  await mkdir(dir)
  const text = createZipfText(13)
  const dice = createDice(13)
  for (let number = 0; number < count; number++) {
    const lines: string[] = []
    let bytes = 0
    let parentUuid: string | null = null
    const add = (type: string, message: unknown) => {
      const uuid = `u-${number}-${lines.length}`
      const timestamp = new Date(Date.UTC(2026, 0, 1) + lines.length * 1000).toISOString()
      const line: string = JSON.stringify({
        parentUuid,
        isSidechain: false,
        type,
        uuid,
        timestamp,
        message,
        sessionId: `s-${number}`,
        cwd: '/work',
        version: '2.1.0',
        gitBranch: 'main',
      })
      lines.push(line)
      bytes += line.length + 1
      parentUuid = uuid
    }
    const answer = (content: unknown) => {
      const usage = { input_tokens: 10, output_tokens: 10 }
      add('assistant', {
        id: `m-${lines.length}`,
        type: 'message',
        role: 'assistant',
        model: 'bench',
        content: [content],
        usage,
      })
    }
    const room = () => Math.max(0, bytesEach - bytes - lineBytes)
    while (room() > 0) {
      add('user', { role: 'user', content: text.textAbout(meanBytes).slice(0, Math.ceil(room() / 2)) })
      if (dice.chance(1, 2) && room() > 4 * meanBytes) {
        const id = `toolu_${lines.length}`
        answer({ type: 'tool_use', id, name: 'Bash', input: { command: text.text(60) } })
        const content = [{ type: 'tool_result', tool_use_id: id, content: text.textAbout(2 * meanBytes) }]
        add('user', { role: 'user', content })
      }
      const said = text.textAbout(meanBytes)
      answer({ type: 'text', text: room() - said.length < roundBytes ? text.text(room()) : said })
    }
    await writeFile(join(dir, `${number}.jsonl`), `${lines.join('\n')}\n`)
  }
  return dir
}
