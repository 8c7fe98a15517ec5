import { type CallId, clip, type HookRun, type Output } from '@holdfast/protocol'
import type { HookedCall } from '../../ports/hooks.ts'
import type { ToolArgs, ToolResult } from '../../ports/tool.ts'
import { findCall } from '../../session/state.ts'
import { storeOutput } from '../blobs/store-output.ts'
import type { EffectDeps, EffectRun } from '../dependencies.ts'
import { runHooks } from './run-hooks.ts'

/** What the PreToolUse hooks made of a call: its arguments, or why it must not run. */
type Admitted = { readonly args: ToolArgs } | { readonly vetoed: string }

/** Runs the PreToolUse hooks of a call. What they did is on record before anything else happens with the call. */
export async function admitCall(
  deps: EffectDeps,
  call: HookedCall,
  { signal, report }: EffectRun,
): Promise<Admitted | null> {
  const ran = await runHooks(deps, { event: 'PreToolUse', ...call }, signal)
  if (ran === null) return null
  const { block, args, stop } = ran.answer
  if (signal.aborted) return { vetoed: 'the turn was stopped' }
  const recorded = await report({
    type: 'hooks.ran',
    runs: ran.runs,
    call: call.call,
    args: block === null ? args : null,
  })
  const veto = block ?? stop ?? (recorded.ok ? null : 'what a hook decided could not be recorded')
  return veto === null ? { args: args?.value ?? call.args } : { vetoed: veto }
}

type HookedResult = { readonly result: ToolResult; readonly hooks?: readonly HookRun[] | undefined }

/** Runs the PostToolUse hooks of a call. What hooks tell the model stands below the result. */
export async function reviewResult(
  deps: EffectDeps,
  call: HookedCall,
  { result, durationMs }: { readonly result: ToolResult; readonly durationMs: number },
  signal: AbortSignal,
): Promise<HookedResult> {
  const { text } = result.output
  const isError = result.type === 'failed'
  const moment = { event: 'PostToolUse', ...call, result: { text, isError }, durationMs } as const
  const ran = await runHooks(deps, moment, signal)
  const notes = [...(await notesOf(deps, call)), ...(ran?.answer.block ? [`A hook objects: ${ran.answer.block}`] : [])]
  if (ran?.answer.context) notes.push(contextNote(ran.answer.context))
  if (ran === null && notes.length === 0) return { result }
  const replaced = ran?.answer.result ?? null
  const shown =
    replaced === null ? result.output : await storeOutput(deps.blobs, [Buffer.from(replaced)], deps.storage.insist)
  const output: Output = { ...shown, text: [shown.text, ...notes].join('\n\n') }
  return { result: { ...result, output }, hooks: ran?.runs }
}

const contextNote = (context: string): string => `Context from a hook:\n${context}`

const argsCharsMax = 2000

/** Returns what PreToolUse hooks tell the model: their context, and that they changed the arguments it sent. */
async function notesOf({ store, session, state }: EffectDeps, { call, args }: HookedCall): Promise<string[]> {
  const hooked = findCall(state(), call)
  const notes: string[] = []
  if (hooked?.rewritten)
    notes.push(`A hook changed the arguments of this call to ${clip(JSON.stringify(args), argsCharsMax)}`)
  for (const seq of hooked?.told ?? []) {
    const [record] = await store.read(session, { after: seq - 1, upTo: seq, limit: 1 })
    if (record && !('lost' in record) && record.event.type === 'hook.ran' && record.event.context !== undefined)
      notes.push(contextNote(record.event.context))
  }
  return notes
}

/** Reads the arguments of a call: as the model sent them, or as hooks changed them. */
export async function readArgs({ store, session, state }: EffectDeps, call: CallId): Promise<ToolArgs> {
  const seq = findCall(state(), call)?.rewritten?.seq ?? call
  const [record] = await store.read(session, { after: seq - 1, upTo: seq, limit: 1 })
  if (!record || 'lost' in record || !('args' in record.event)) throw new Error(`call ${call} cannot be read`)
  return record.event.args
}
