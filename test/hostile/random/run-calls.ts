import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Prepared, Tool, ToolArgs, ToolContext, ToolResult, ToolRun } from '@holdfast/core/ports'
import { type BlobHash, faultStatus, limits, SessionId } from '@holdfast/protocol'
import { createDice, type Dice } from '@holdfast/testkit'
import { createMemory } from '../../../packages/holdfast/src/context/memory/memory.ts'
import { createTools } from '../../../packages/holdfast/src/tools/tools.ts'
import { readTree } from '../../../packages/testkit/src/contracts/tool.ts'
import { type HostileSite, startHostileSite } from '../hostile-site.ts'
import { boundedPath, boundedRange, findOutsideLines, readBounded } from './bounded-lines.ts'
import { randomArgs } from './random-call.ts'
import { boundedText, openRoughWorkdir, type RoughWorkdir } from './rough-workdir.ts'

export type RandomCalls = { readonly calls: number; readonly seed: number }

export type RandomReport = {
  readonly seed: number
  /** How many calls there were, and how many of them were refused. */
  readonly called: number
  readonly refused: number
  /** How many calls of each tool worked: a tool that never does is not tried out. */
  readonly worked: { readonly [tool: string]: number }
  readonly violations: readonly string[]
}

/** Calls that share a workdir: each finds what those before it left. */
const callsPerWorkdir = 100
const callMsMax = 20_000

/**
 * Calls the built-in tools with random arguments, as if each was approved, in workdirs with links, pipes and a hostile
 * repository. A call may not throw, hang, change anything beside its workdir, or refuse without a code or a sentence.
 */
export async function runRandomCalls({ calls, seed }: RandomCalls): Promise<RandomReport> {
  const dice = createDice(seed)
  const site = await startHostileSite()
  const violations: string[] = []
  const tally = { called: 0, refused: 0, worked: {} as Record<string, number> }
  const note = (error: unknown) => violations.push(`not awaited: ${String(error)}`)
  process.on('unhandledRejection', note).on('uncaughtException', note)
  try {
    for (let left = calls; left > 0; left -= callsPerWorkdir) {
      await using place = await openRoughWorkdir()
      const round = { dice, site, place, calls: Math.min(left, callsPerWorkdir), tally }
      violations.push(...(await runInWorkdir(round)))
    }
  } finally {
    process.off('unhandledRejection', note).off('uncaughtException', note)
    site.close()
  }
  return { seed, ...tally, violations }
}

type Round = {
  readonly dice: Dice
  readonly site: HostileSite
  readonly place: RoughWorkdir
  readonly calls: number
  readonly tally: { called: number; refused: number; readonly worked: Record<string, number> }
}

async function runInWorkdir({ dice, site, place, calls, tally }: Round): Promise<readonly string[]> {
  const { workdir, beside, own } = place
  const tools = createTools({
    environment: { ...process.env, ...author },
    memory: createMemory({ userFile: join(own, 'MEMORY.md'), now: () => 0 }),
    shellDirectory: join(own, 'shell'),
    ownPaths: [own],
    fetchHosts: [site.host],
    sandbox: dice.chance(1, 2) ? 'auto' : 'off',
  })
  await tools.whenDescribed?.(workdir)
  const session = SessionId.parse(`ses_0${'2'.repeat(25)}`)
  const blobs = createBlobs()
  const violations: string[] = []
  const untouched = await readBeside(beside)
  try {
    for (let left = calls; left > 0; left--) {
      const tool = tools.all[dice.below(tools.all.length)] as Tool
      const ids = tools.background?.running(session).map(({ id }) => id) ?? []
      const args = randomArgs(tool, dice, { beside, host: site.host, ids })
      const context: ToolContext = { workdir, session, openBlob: blobs.open, ...(dice.chance(1, 4) && blobs.bounded) }
      const bounded = await readBounded(workdir)
      const outcome = await callTool(tool, args, context, blobs, dice.chance(1, 10))
      const shown = `${tool.schema.name} ${JSON.stringify(args).slice(0, 500)}`
      violations.push(...outcome.violations.map((what) => `${shown}: ${what}`))
      const outside = findOutsideLines(bounded, await readBounded(workdir))
      // A command may change any line, but it fails then. One in the background is judged when it ends.
      const isKnown =
        ids.length > 0 || args['background'] === true || (tool.schema.name === 'shell' && outcome.isBreach)
      if (outside !== null && context.boundaries && !isKnown) violations.push(`${shown}: ${outside}`)
      tally.called++
      if (outcome.isRefused) tally.refused++
      else tally.worked[tool.schema.name] = (tally.worked[tool.schema.name] ?? 0) + 1
      const changed = differences(untouched, await readBeside(beside))
      if (changed.length === 0) continue
      violations.push(`${shown}: changed beside the workdir: ${changed.join(', ')}`)
      break // what follows would only say the same
    }
  } finally {
    await tools.background?.end()
  }
  return violations
}

const author = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
}

/** The blobs of the session, in memory, with a boundary whose content they hold. */
function createBlobs() {
  const stored = new Map<BlobHash, Uint8Array>()
  const put = async (bytes: Uint8Array) => {
    const hash = createHash('sha256').update(bytes).digest('hex') as BlobHash
    stored.set(hash, Buffer.from(bytes))
    return { hash, bytes: bytes.length }
  }
  async function* read(hash: BlobHash): AsyncGenerator<Uint8Array> {
    yield stored.get(hash) ?? Buffer.from(boundedText)
  }
  const content = createHash('sha256').update(boundedText).digest('hex') as BlobHash
  const bounded = { boundaries: [{ path: boundedPath, ...boundedRange, content }] }
  return { put, open: async (hash: BlobHash) => read(hash), bounded }
}

type Outcome = {
  readonly isRefused: boolean
  /** Whether it failed because it changed lines outside a boundary. */
  readonly isBreach?: boolean
  readonly violations: readonly string[]
}

/** Prepares a call and runs it, as after an approval. `isBlind` runs it unprepared: `run` repeats every check. */
async function callTool(
  tool: Tool,
  args: ToolArgs,
  context: ToolContext,
  blobs: ReturnType<typeof createBlobs>,
  isBlind: boolean,
): Promise<Outcome> {
  const aborting = new AbortController()
  const late = delay(callMsMax, 'late' as const, { signal: aborting.signal, ref: false })
  late.catch(() => undefined)
  const called = prepareAndRun(tool, args, context, { signal: aborting.signal, blobs, isBlind }).catch(
    (error: unknown): Outcome => ({
      isRefused: true,
      violations: [`it threw ${error instanceof Error ? error.stack : String(error)}`],
    }),
  )
  const outcome = await Promise.race([called, late])
  aborting.abort()
  return outcome === 'late' ? { isRefused: true, violations: [`it took more than ${callMsMax} ms`] } : outcome
}

type Calling = {
  readonly signal: AbortSignal
  readonly blobs: ReturnType<typeof createBlobs>
  readonly isBlind: boolean
}

async function prepareAndRun(
  tool: Tool,
  args: ToolArgs,
  context: ToolContext,
  { signal, blobs, isBlind }: Calling,
): Promise<Outcome> {
  const prepared = await tool.prepare(args, context, signal)
  if (prepared.type === 'unusable' && !isBlind) return { isRefused: true, violations: checkUnusable(prepared) }
  const run: ToolRun = {
    signal,
    begin: async () => undefined,
    show: () => undefined,
    blobs,
    ...(prepared.type === 'ready' && prepared.contentHash && { contentHash: prepared.contentHash }),
    async storeOutput(output) {
      const kept: Uint8Array[] = []
      for await (const piece of output) kept.push(piece)
      const text = Buffer.concat(kept).toString('utf8')
      return { text: text.length > 1000 ? `${text.slice(0, 500)}…${text.slice(-500)}` : text }
    },
  }
  const result = await tool.run(prepared.type === 'ready' ? prepared.args : args, context, run)
  const isBreach = result.output.text.includes('[outside_boundary: ')
  return { isRefused: result.type === 'failed', isBreach, violations: checkResult(tool, result) }
}

/** A refusal begins with the code of a fault, unless the verdict carries it; a breach of a boundary follows the output. */
const coded = new RegExp(`(?:^|\\n\\[)(?:${Object.keys(faultStatus).join('|')}): .`, 's')

/** A command fails in its own words, and the result says how it ended. */
const ended = /(?:^|\n)(?:exit code \d+|killed, with its whole process group|timed out after \d+ s|aborted)(?:\n|$)/

const checkUnusable = ({ message, denied }: Extract<Prepared, { type: 'unusable' }>): readonly string[] =>
  denied === undefined ? (coded.test(message) ? [] : [`it refused without a code: ${message}`]) : []

function checkResult({ schema }: Tool, { type, output }: ToolResult): readonly string[] {
  const inlineMax = limits.toolOutputInlineBytesMax * 4 // read_file and others bound their own text
  if (output.text.length > inlineMax) return [`its result has ${output.text.length} characters`]
  if (type === 'ok' || (schema.name === 'shell' && ended.test(output.text))) return []
  return coded.test(output.text) ? [] : [`it failed without a code: ${output.text.slice(0, 300)}`]
}

/** Returns what is beside the workdir, without the workdir itself. */
async function readBeside(beside: string): Promise<ReadonlyMap<string, string>> {
  const [outside, sibling] = [await readTree(beside, 'outside'), await readTree(beside, 'work-sibling')]
  return new Map([...outside, ...sibling])
}

const differences = (one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): readonly string[] =>
  [...new Set([...one.keys(), ...other.keys()])].filter((path) => one.get(path) !== other.get(path))
