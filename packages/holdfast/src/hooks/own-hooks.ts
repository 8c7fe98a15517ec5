import { type Fault, fault, HookEvent } from '@holdfast/protocol'
import { z } from 'zod'
import { failedReply, type HookReply, noReply } from './hook-answer.ts'
import { createMatcher } from './matcher.ts'
import type { HookPayloads } from './payload.ts'

/** What a hook of the program answers. What is absent changes nothing. */
export const HookResult = z.strictObject({
  /** Refuses what it was asked about, for this reason. For Stop: the model goes on, for this reason. */
  block: z.string().optional(),
  /** For PreToolUse: `ask` asks a person each time; `allow` allows the call where no rule says otherwise. */
  permission: z.enum(['allow', 'ask']).optional(),
  /** For PreToolUse: the arguments to use instead, all of them. */
  args: z.record(z.string(), z.unknown()).optional(),
  /** For PostToolUse: the result to use instead. */
  result: z.string().optional(),
  /** Text for the model. */
  context: z.string().optional(),
  /** Text for the person. */
  message: z.string().optional(),
  /** Ends the turn before the next model call, for this reason. */
  stop: z.string().optional(),
})
export type HookResult = z.infer<typeof HookResult>

/** A hook of the program. If it throws or takes too long, what it was asked about is refused. */
export type HookFunction<Event extends HookEvent = HookEvent> = (
  payload: HookPayloads[Event],
  run: HookFunctionRun,
) => HookResult | undefined | Promise<HookResult | undefined>

/** What a hook of the program can use. */
export type HookFunctionRun = {
  /** Aborts when the turn is stopped, or when the hook takes too long. */
  readonly signal: AbortSignal
}

/** A hook of the program with a matcher. */
export type MatchedHook<Event extends HookEvent = HookEvent> = {
  /** Which tools it is for, as in the configuration: all when absent. */
  readonly matcher?: string | undefined
  /** How long it may take; 30 seconds when absent. */
  readonly timeoutMs?: number | undefined
  /** The hook. */
  readonly run: HookFunction<Event>
}

/** The hooks of the program, by event. */
export type OwnHooks = {
  readonly [Event in HookEvent]?: readonly (HookFunction<Event> | MatchedHook<Event>)[] | undefined
}

/** A hook of the program, whatever its event. */
export type OwnHook = {
  readonly event: HookEvent
  readonly matcher: string
  readonly timeoutMs?: number | undefined
  readonly name: string
  readonly run: (payload: unknown, run: HookFunctionRun) => unknown
}

/** Returns the hooks of the program, in order. */
export function readOwnHooks(given: OwnHooks = {}): readonly OwnHook[] {
  return HookEvent.options.flatMap((event) =>
    (given[event] ?? []).map((one): OwnHook => {
      const { matcher = '', timeoutMs, run } = typeof one === 'function' ? { run: one } : one
      // Each hook gets the payload of its own event.
      return { event, matcher, timeoutMs, name: run.name || 'a function', run: run as OwnHook['run'] }
    }),
  )
}

/** Returns the fault of hooks that a program without types may give; null if they can be used. */
export function findHooksFault(given: unknown): Fault | null {
  const bad = (why: string) => fault('bad_request', `The option hooks ${why}.`, { option: 'hooks' })
  if (typeof given !== 'object' || given === null) return bad('must be an object of lists of functions by event')
  for (const [event, list] of Object.entries(given)) {
    if (!HookEvent.safeParse(event).success)
      return bad(`has no event ${event}. The events are ${HookEvent.options.join(', ')}`)
    if (!Array.isArray(list) || !list.every(isHook))
      return bad(`needs a list of functions, or objects with run, for ${event}`)
    if (!list.every((one) => typeof one === 'function' || createMatcher(one.matcher ?? '') !== null))
      return bad(`has a matcher for ${event} that is no expression`)
  }
  return null
}

const isHook = (value: unknown): boolean =>
  typeof value === 'function' ||
  (typeof value === 'object' &&
    value !== null &&
    typeof Reflect.get(value, 'run') === 'function' &&
    ['string', 'undefined'].includes(typeof Reflect.get(value, 'matcher')))

/** Runs a hook of the program. It is not waited for after its time is up. */
export async function runOwnHook(
  hook: OwnHook,
  payload: unknown,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<HookReply> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const ended = AbortSignal.any([signal, timeout])
  const { promise: stopped, resolve: stop } = Promise.withResolvers<'stopped'>()
  const onAbort = () => stop('stopped')
  ended.addEventListener('abort', onAbort, { once: true })
  try {
    if (ended.aborted) return failedReply(hook.event, stoppedBy(signal), false)
    const said = await Promise.race([(async () => hook.run(payload, { signal: ended }))(), stopped])
    if (said === 'stopped') return failedReply(hook.event, stoppedBy(signal), false)
    const read = HookResult.safeParse(said ?? {})
    if (!read.success)
      return failedReply(hook.event, `it returned something else: ${z.prettifyError(read.error)}`, false)
    return { ...noReply, ...withNull(read.data) }
  } catch (cause) {
    return failedReply(hook.event, `it threw: ${cause instanceof Error ? cause.message : String(cause)}`, false)
  } finally {
    ended.removeEventListener('abort', onAbort)
  }
}

const stoppedBy = (signal: AbortSignal): string => (signal.aborted ? 'the turn was stopped' : 'the hook took too long')

const withNull = (result: HookResult): Partial<HookReply> =>
  Object.fromEntries(Object.entries(result).filter(([, value]) => value !== undefined))
