import { createHash } from 'node:crypto'
import {
  BlobHash,
  type CallId,
  type DenialCode,
  escapeLine,
  invariant,
  ok,
  orThrow,
  type Result,
  refuse,
} from '@holdfast/protocol'
import { type CallFacts, judge } from '../../policy/verdict.ts'
import { ownSlice } from '../../ports/own-slice.ts'
import type { RuledCall } from '../../ports/permissions.ts'
import type { Prepared, Tool, ToolArgs, ToolContext } from '../../ports/tool.ts'
import type { ReadyCall, ReportOf } from '../../session/input.ts'
import type { EffectOf } from '../../session/plan.ts'
import { findCall } from '../../session/state.ts'
import { openBlob as openSessionBlob } from '../blobs/read-blob.ts'
import { shortPreview, storePreview } from '../blobs/store-preview.ts'
import type { EffectDeps, EffectRun } from '../dependencies.ts'
import { refuseThrown } from '../refuse-thrown.ts'
import { admitCall, readArgs } from './call-hooks.ts'
import { findTool } from './offered-tools.ts'
import { hasHooks } from './run-hooks.ts'

/** Finds out what a call would do. It changes nothing, so it may run again after a crash. */
export async function prepareCall(
  deps: EffectDeps,
  { call, tool: name }: EffectOf<'prepare-call'>,
  run: EffectRun,
): Promise<ReportOf<'call.prepared'>> {
  const { origin } = deps.state()
  invariant(origin, 'a call needs a started session')
  const atMs = deps.clock.now()
  const unusable = (why: string, denied?: DenialCode): ReportOf<'call.prepared'> => ({
    type: 'call.prepared',
    call,
    found: { unusable: why, denied },
    atMs,
  })
  const tool = await findTool(deps.tools, origin, deps.state().settings, name)
  if (!tool) return unusable(`The tool ${name} does not exist.`)
  const { signal } = run
  const sent = await readArgs(deps, call)
  // Hooks come before the rules, so that nobody is asked about a call that a hook refuses.
  const admitted = hasHooks(deps, 'PreToolUse') ? await admitCall(deps, { call, tool: name, args: sent }, run) : null
  if (admitted && 'vetoed' in admitted) return unusable(admitted.vetoed, 'vetoed')
  const args = admitted?.args ?? sent
  const isLarge = countChars(args) > smallCharsMax
  if (isLarge) await ownSlice() // up to 64 calls are prepared at once
  // Rules come before the tool: what it says about a file must not tell what a rule keeps from the model.
  const ruled = await factsOf(deps, origin.workdir, tool, { call, args })
  const verdict = judge(ruled, deps.state())
  if (verdict.type === 'deny' && verdict.code === 'rule') return unusable(verdict.message, verdict.code)
  const prepared = await tool.prepare(args, toolContext(deps), signal)
  if (prepared.type === 'unusable') {
    const isAsked = ruled.ruling !== null && ruled.ruling.verdict !== 'allow'
    return unusable(prepared.quotesFile && isAsked ? withheld(name) : prepared.message, prepared.denied)
  }
  const facts = withReason(ruled, prepared.alwaysAsk)
  if (isLarge) await ownSlice()
  return { type: 'call.prepared', call, found: await toReport(deps, prepared, facts, signal), atMs }
}

const withheld = (tool: string): string =>
  `This ${tool} call does not fit the file. A rule asks a person about such calls, so what the file has is not shown. Read the file first.`

/** Returns what a tool knows of the session. */
export function toolContext(deps: EffectDeps): ToolContext {
  const { origin, seen, boundaries, settings } = deps.state()
  invariant(origin, 'a call needs a started session')
  const openBlob = async (hash: BlobHash) => orThrow(await openSessionBlob(deps, deps.session, hash))
  const { permissions } = settings
  return { workdir: origin.workdir, session: deps.session, seen, boundaries, permissions, openBlob }
}

/** Calls with shorter arguments take much less than a millisecond each. */
const smallCharsMax = 4096

/** Returns about how long arguments are as JSON. */
function countChars(args: ToolArgs): number {
  let chars = 0
  for (const [name, value] of Object.entries(args)) {
    const isNested = typeof value === 'object' && value !== null
    chars += name.length + (isNested ? JSON.stringify(value).length : String(value).length)
    if (chars > smallCharsMax) break
  }
  return chars
}

/** Returns what the session learns of a prepared call. */
export async function toReport(
  deps: EffectDeps,
  prepared: Extract<Prepared, { type: 'ready' }>,
  facts: CallFacts,
  signal: AbortSignal,
): Promise<ReadyCall> {
  // The whole of a long preview is stored only for a person who is asked.
  const isAsked = judge(facts, deps.state()).type === 'ask'
  const storage = { blobs: deps.blobs, insist: deps.storage.insist, signal }
  const preview = isAsked ? await storePreview(prepared, storage) : shortPreview(prepared)
  return { facts, argsHash: facts.argsHash, preview, contentHash: prepared.contentHash }
}

/**
 * Collects what the policy needs to know of a call. A call of the model waits for a store that is away: with rules that
 * cannot be read now, a person would be asked what the rules answer. For a slash command, whose `call` is null, it throws.
 */
export async function factsOf(
  deps: EffectDeps,
  workdir: string,
  { schema, isDestructive, isReadOnly }: Tool,
  { call, args }: { readonly call: CallId | null; readonly args: ToolArgs },
): Promise<CallFacts> {
  const { storage, state, subagents } = deps
  const { name: tool } = schema
  const argsHash = hashArgs(tool, args) // before the store is asked, which answers for many calls at once
  const read = () => readRuling(deps, { tool, args, workdir })
  const { workspaceTrust, ruling } = orThrow(await (call === null ? read() : storage.insist(read)))
  const hooks = call === null ? undefined : findCall(state(), call)?.permission
  const rootTrust = subagents?.rootTrust(state()) ?? []
  const above = rootTrust.length > 0 && { rootTrust }
  return { tool, isDestructive, isReadOnly, argsHash, ruling, workspaceTrust, ...above, ...(hooks && { hooks }) }
}

/** Reads the trust in a workspace, and what the rules say about a call. Refused: storage_error. */
async function readRuling(
  { store, permissions, state }: EffectDeps,
  call: RuledCall,
): Promise<Result<Pick<CallFacts, 'workspaceTrust' | 'ruling'>>> {
  try {
    const [workspaceTrust, ruling] = await Promise.all([
      store.workspaceTrust(call.workdir),
      permissions.judge(call, state().settings.permissions ?? []),
    ])
    const away = ruling?.verdict === 'unknown' ? ruling.away : undefined
    return away ? refuse(away) : ok({ workspaceTrust, ruling })
  } catch (cause) {
    return refuseThrown(cause)
  }
}

/** Adds why a person is asked about a call each time, if there is a reason. */
export const withReason = (facts: CallFacts, alwaysAsk: string | undefined): CallFacts =>
  alwaysAsk === undefined ? facts : { ...facts, alwaysAsk: escapeLine(alwaysAsk) }

/** Hashes the tool and its arguments, in any order of their names: what an approval covers. */
export function hashArgs(tool: string, args: ToolArgs): BlobHash {
  return BlobHash.parse(
    createHash('sha256')
      .update(JSON.stringify([tool, sorted(args)]))
      .digest('hex'),
  )
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  return Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)])
}
