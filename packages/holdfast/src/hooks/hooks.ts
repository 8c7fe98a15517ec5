import { performance } from 'node:perf_hooks'
import type { HookAnswer, HookMoment, Hooks, RanHook, ToolArgs } from '@holdfast/core/ports'
import { clip, type HookEvent, type ListedHook } from '@holdfast/protocol'
import { findWorkspaceRoot } from '../system/files/workspace-root.ts'
import { maskKeys } from '../system/secrets/known-keys.ts'
import type { ProcessRecords } from '../tools/program/process-records.ts'
import type { OfferPlace } from '../trust/offer-trust.ts'
import type { TrustedWorkspaces } from '../trust/trusted-workspaces.ts'
import { claudeNames, fromClaudeInput, toClaudePayload } from './claude-dialect.ts'
import { failedReply, type HookReply, joinReplies, readHookAnswer } from './hook-answer.ts'
import type { DeclaredHook } from './hook-config.ts'
import { createMatcher, type Matcher } from './matcher.ts'
import { type OwnHook, runOwnHook } from './own-hooks.ts'
import { payloadOf, subjectOf } from './payload.ts'
import { hookTimeoutMs, runHook } from './run-hook.ts'
import { findWorkspaceHooks } from './workspace-hooks.ts'

export type HooksDeps = {
  readonly own: readonly OwnHook[]
  readonly user: readonly DeclaredHook[]
  readonly trusted: Pick<TrustedWorkspaces, 'judge' | 'hasAny' | 'isKnown'>
  /** The user's home directory. */
  readonly userDir: string
  /** The environment of the programs. */
  readonly environment: Readonly<Record<string, string>>
  /** Puts the process groups of hooks on record, so that the next start ends them if we die. */
  readonly records?: Pick<ProcessRecords, 'add' | 'remove'> | null | undefined
}

/** The hooks of a runtime, which can also be listed. */
export interface RuntimeHooks extends Hooks {
  /** Lists the hooks that may run in a folder, and those of its workspace that do not. */
  list(workdir: string): Promise<readonly ListedHook[]>
}

/** A hook that may run: a function of the program, or a program of the user or a workspace. */
type ActiveHook = {
  readonly event: HookEvent
  readonly matches: Matcher
  readonly name: string
  readonly timeoutMs: number
} & (
  | { readonly source: 'program'; readonly own: OwnHook }
  | { readonly source: 'user'; readonly declared: DeclaredHook }
  | {
      readonly source: 'workspace'
      readonly declared: DeclaredHook
      readonly isClaude: boolean
      readonly offer: string
    }
)

const nameCharsMax = 200
/** How long a hook may take when the session ends. */
const endMs = 3000
/** For how many folders the hooks of their workspaces are remembered. */
const foldersMax = 1000

/**
 * Creates the hooks of a runtime. Those of the workspace run first, then those of the user, then those of the program, so
 * that the last word is with whom the others depend on.
 */
export function createHooks(deps: HooksDeps): RuntimeHooks {
  const fixed = [...deps.user.map(userHook), ...deps.own.map(ownHook)]
  const ofWorkspace = new Map<string, readonly ActiveHook[]>()
  const hooksOf = (event: HookEvent, workdir: string): readonly ActiveHook[] =>
    [...(ofWorkspace.get(workdir) ?? []), ...fixed].filter((hook) => hook.event === event)

  return {
    has: (event, workdir) => hooksOf(event, workdir).length > 0,

    async refresh(workdir) {
      const found = deps.trusted.hasAny() ? await lookIn(deps, workdir) : []
      ofWorkspace.delete(workdir) // the newest last
      if (found.length > 0) ofWorkspace.set(workdir, found)
      const [oldest] = ofWorkspace.keys()
      if (oldest !== undefined && ofWorkspace.size > foldersMax) ofWorkspace.delete(oldest)
    },

    async list(workdir) {
      const workspace = await findWorkspaceRoot(workdir, deps.userDir)
      return [...(await listWorkspace(deps, { workdir, workspace })), ...fixed.map(listFixed)]
    },

    async run(moment, session, signal) {
      const hooks = hooksOf(moment.event, session.workdir).filter((hook) => covers(hook, moment))
      if (hooks.length === 0) return null
      const workspace = await findWorkspaceRoot(session.workdir, deps.userDir)
      const place = { workdir: session.workdir, workspace }
      const replies: HookReply[] = []
      const runs: RanHook[] = []
      let args: HookAnswer['args'] = null
      for (const hook of hooks) {
        // Each gets what those before it have changed.
        const now = args && moment.event === 'PreToolUse' ? { ...moment, args: args.value } : moment
        const started = performance.now()
        const { reply, printed } = await runOne(deps, hook, { moment: now, session, place, signal })
        replies.push(reply)
        runs.push(toRun(hook, reply, { printed, durationMs: Math.round(performance.now() - started) }))
        if (reply.args !== null) args = { value: reply.args, by: hook.name }
        if (reply.block !== null) break
      }
      return { answer: { ...joinReplies(replies), args }, runs }
    },
  }
}

const nameOf = ({ command, args = [] }: DeclaredHook): string => clip([command, ...args].join(' '), nameCharsMax)

const matcherOf = (text: string): Matcher => createMatcher(text) ?? (() => true)

const ownHook = (own: OwnHook): ActiveHook => ({
  event: own.event,
  matches: matcherOf(own.matcher),
  name: own.name,
  source: 'program',
  own,
  timeoutMs: limited(own.event, own.timeoutMs),
})

const userHook = (declared: DeclaredHook): ActiveHook => ({ ...programHook(declared), source: 'user' })

const programHook = (declared: DeclaredHook) => ({
  event: declared.event,
  matches: matcherOf(declared.matcher),
  name: nameOf(declared),
  declared,
  timeoutMs: limited(declared.event, declared.timeoutMs),
})

const limited = (event: HookEvent, timeoutMs: number = hookTimeoutMs): number =>
  event === 'SessionEnd' ? Math.min(timeoutMs, endMs) : timeoutMs

/** Returns the hooks of a folder's workspace that may run. */
async function lookIn(deps: HooksDeps, workdir: string): Promise<readonly ActiveHook[]> {
  const workspace = await findWorkspaceRoot(workdir, deps.userDir)
  return deps.trusted.isKnown(workspace) ? findTrusted(deps, { workdir, workspace }) : []
}

/** Returns the hooks of a workspace that a person trusts exactly as they are. */
async function findTrusted({ trusted }: HooksDeps, place: OfferPlace): Promise<readonly ActiveHook[]> {
  const found = await findWorkspaceHooks(place)
  const judged = await trusted.judge(
    place.workspace,
    found.map(({ offer }) => offer),
  )
  if (!judged.ok) return []
  return found.flatMap(({ hook, isClaude, offer }, index): readonly ActiveHook[] => {
    if ('why' in hook || judged.value[index]?.verdict !== 'trusted') return []
    return [{ ...programHook(hook), source: 'workspace', isClaude, offer: `${offer.name} ${offer.hash}` }]
  })
}

const listFixed = (hook: ActiveHook): ListedHook => {
  const matcher = hook.source === 'program' ? hook.own.matcher : hook.declared.matcher
  return { event: hook.event, hook: hook.name, matcher, source: hook.source, state: 'active' }
}

async function listWorkspace({ trusted }: HooksDeps, place: OfferPlace): Promise<readonly ListedHook[]> {
  const found = await findWorkspaceHooks(place)
  const offers = found.map(({ offer }) => offer)
  const judged = await trusted.judge(place.workspace, offers)
  return found.map(({ hook, offer }, index): ListedHook => {
    const { path, name: offerName } = offer
    const listed = { event: hook.event, source: 'workspace', path, offer: offerName } as const
    if ('why' in hook)
      return { ...listed, hook: clip(hook.text, nameCharsMax), matcher: '', state: 'unsupported', why: hook.why }
    const verdict = judged.ok ? judged.value[index]?.verdict : undefined
    const state = verdict === 'trusted' ? 'active' : verdict === 'changed' ? 'changed' : 'waiting'
    return {
      ...listed,
      hook: nameOf(hook),
      matcher: hook.matcher,
      state,
      ...(hook.note !== undefined && { why: hook.note }),
    }
  })
}

/** Whether a hook is for this moment. */
function covers(hook: ActiveHook, moment: HookMoment): boolean {
  const isClaude = hook.source === 'workspace' && hook.isClaude
  // There is another event for calls that failed.
  if (isClaude && moment.event === 'PostToolUse' && moment.result.isError) return false
  const subject = subjectOf(moment)
  if (subject === null) return true
  if (moment.event !== 'PreToolUse' && moment.event !== 'PostToolUse') return hook.matches(subject)
  return (isClaude ? claudeNames(subject) : [subject]).some((name) => hook.matches(name))
}

type Run = {
  readonly moment: HookMoment
  readonly session: Parameters<Hooks['run']>[1]
  readonly place: OfferPlace
  readonly signal: AbortSignal
}

async function runOne(
  deps: HooksDeps,
  hook: ActiveHook,
  { moment, session, place, signal }: Run,
): Promise<{ readonly reply: HookReply; readonly printed: string }> {
  const payload = payloadOf(moment, session)
  if (hook.source === 'program')
    return { reply: masked(await runOwnHook(hook.own, payload, signal, hook.timeoutMs)), printed: '' }
  const { declared } = hook
  if (hook.source === 'workspace' && !(await isStillTrusted(deps, place, hook.offer)))
    return { reply: failedReply(moment.event, notTrusted, false), printed: '' }
  const isClaude = hook.source === 'workspace' && hook.isClaude
  const end = await runHook({ ...declared, timeoutMs: hook.timeoutMs }, isClaude ? toClaudePayload(payload) : payload, {
    cwd: place.workdir,
    environment: deps.environment,
    projectDir: place.workspace,
    records: deps.records,
    signal,
  })
  const reply = masked(readHookAnswer(moment.event, end, declared.continuesOnFailure))
  const printed = maskKeys([end.stdout, end.stderr].filter((text) => text.trim() !== '').join('\n'))
  return { reply: isClaude ? withOwnArgs(reply, moment, place.workdir) : reply, printed }
}

const notTrusted = 'it has changed since it was trusted; see holdfast trust'

/** Whether a hook, and the files it runs, are still as a person trusted them. */
async function isStillTrusted(deps: HooksDeps, place: OfferPlace, offer: string): Promise<boolean> {
  const now = await findTrusted(deps, place)
  return now.some((one) => one.source === 'workspace' && one.offer === offer)
}

function withOwnArgs(reply: HookReply, moment: HookMoment, workdir: string): HookReply {
  if (reply.args === null || moment.event !== 'PreToolUse') return reply
  return { ...reply, args: fromClaudeInput(moment.tool, reply.args as ToolArgs, moment.args, workdir) }
}

/** A hook may print a key, and its words are recorded and sent to the service. */
function masked(reply: HookReply): HookReply {
  const mask = (text: string | null) => (text === null ? null : maskKeys(text))
  return {
    ...reply,
    block: mask(reply.block),
    context: mask(reply.context),
    message: mask(reply.message),
    stop: mask(reply.stop),
    failure: mask(reply.failure),
    result: mask(reply.result),
  }
}

function toRun(
  hook: ActiveHook,
  reply: HookReply,
  { printed, durationMs }: Pick<RanHook, 'printed' | 'durationMs'>,
): RanHook {
  const { block, permission, args, result, context, message, stop, failure } = reply
  const outcome = failure !== null ? 'failed' : block === null ? 'ok' : 'blocked'
  const reason = failure ?? block
  return {
    event: hook.event,
    hook: maskKeys(hook.name),
    source: hook.source,
    outcome,
    durationMs,
    printed,
    ...(reason !== null && { reason }),
    ...(permission !== null && { permission }),
    ...((args !== null || result !== null) && { changed: true as const }),
    ...(context !== null && { context }),
    ...(message !== null && { message }),
    ...(stop !== null && { stop }),
  }
}
