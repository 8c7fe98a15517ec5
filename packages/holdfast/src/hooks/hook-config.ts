import { didYouMean, HookEvent } from '@holdfast/protocol'
import { z } from 'zod'
import { CommandHandler, type HooksConfig, hooksMax } from '../system/config/hooks-config.ts'
import { createMatcher } from './matcher.ts'

/** A hook as a file declares it. */
export type DeclaredHook = {
  readonly event: HookEvent
  readonly matcher: string
  readonly command: string
  readonly args?: readonly string[] | undefined
  readonly timeoutMs?: number | undefined
  readonly continuesOnFailure: boolean
  /** What of it is not followed, for people. */
  readonly note?: string | undefined
}

/** A hook of a file that Holdfast does not run, and why. */
export type UnsupportedHook = { readonly event: string; readonly text: string; readonly why: string }

/** Returns the hooks of a checked configuration, in order. */
export const declaredHooks = (config: HooksConfig): readonly DeclaredHook[] =>
  HookEvent.options.flatMap((event) =>
    (config[event] ?? []).flatMap(({ matcher = '', hooks }) => hooks.map((hook) => declare(event, matcher, hook))),
  )

const declare = (
  event: HookEvent,
  matcher: string,
  { command, args, timeout, onFailure }: z.infer<typeof CommandHandler>,
): DeclaredHook => ({
  event,
  matcher,
  command,
  args,
  timeoutMs: timeout === undefined ? undefined : Math.round(timeout * 1000),
  continuesOnFailure: onFailure === 'continue',
})

/** What a file of a workspace declares. */
export type FoundHooks = { readonly hooks: readonly DeclaredHook[]; readonly unsupported: readonly UnsupportedHook[] }

/** Reads the hooks of a file of a workspace, which may be for another program: what it has more is named, not refused. */
export function findHooks(file: unknown): FoundHooks {
  const hooks: DeclaredHook[] = []
  const unsupported: UnsupportedHook[] = []
  const block = fieldOf(file, 'hooks')
  if (block === undefined) return { hooks, unsupported }
  if (!isObject(block)) return { hooks, unsupported: [{ event: 'hooks', text: textOf(block), why: 'it is no object' }] }
  for (const [event, groups] of Object.entries(block)) {
    for (const { matcher, handler } of handlersOf(groups)) {
      const read = readHandler(event, matcher, handler)
      if (hooks.length + unsupported.length >= hooksMax) return { hooks, unsupported }
      if ('why' in read) unsupported.push(read)
      else if (!hooks.some((one) => textOf(one) === textOf(read))) hooks.push(read) // equal hooks run once
    }
  }
  return { hooks, unsupported }
}

type Handler = { readonly matcher: unknown; readonly handler: unknown }

/** Returns the handlers of an event. What is no list of handlers is one that cannot be read. */
function handlersOf(groups: unknown): readonly Handler[] {
  if (!Array.isArray(groups)) return [{ matcher: '', handler: groups }]
  return groups.flatMap((group): readonly Handler[] => {
    const handlers = fieldOf(group, 'hooks')
    const matcher = fieldOf(group, 'matcher') ?? ''
    return Array.isArray(handlers) ? handlers.map((handler) => ({ matcher, handler })) : [{ matcher, handler: group }]
  })
}

/** Events of other programs: they are no misspelled names of ours. */
const foreignEvents: ReadonlySet<string> = new Set([
  ...['PermissionRequest', 'PostToolUseFailure', 'Setup', 'SubagentStart', 'TaskCompleted', 'TeammateIdle'],
  ...['ConfigChange', 'InstructionsLoaded', 'StopFailure', 'PostCompact', 'WorktreeCreate', 'WorktreeRemove'],
])

function readHandler(event: string, matcher: unknown, handler: unknown): DeclaredHook | UnsupportedHook {
  const not = (why: string): UnsupportedHook => ({ event, text: textOf({ matcher, ...asObject(handler) }), why })
  const known = HookEvent.safeParse(event)
  if (!known.success)
    return not(`Holdfast has no event ${event}.${foreignEvents.has(event) ? '' : didYouMean(event, HookEvent.options)}`)
  const type = fieldOf(handler, 'type')
  if (typeof type === 'string' && type !== 'command') return not(`Holdfast runs no hooks of type ${type}.`)
  if (fieldOf(handler, 'async') === true) return not('Holdfast runs no hooks in the background (async).')
  const read = CommandHandler.safeParse(handler)
  if (!read.success) return not(`it cannot be read: ${z.prettifyError(read.error)}`)
  if (typeof matcher !== 'string' || createMatcher(matcher) === null)
    return not('its matcher is no expression that Holdfast can use')
  const isConditional = fieldOf(handler, 'if') !== undefined
  return { ...declare(known.data, matcher, read.data), ...(isConditional && { note: ignoredIf }) }
}

const ignoredIf = 'Its "if" is not followed: it runs for everything that its matcher covers.'

/** Returns the first matcher of a configuration that cannot be used; null if all can. */
export const findBadMatcher = (config: HooksConfig): string | null =>
  declaredHooks(config).find(({ matcher }) => createMatcher(matcher) === null)?.matcher ?? null

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const asObject = (value: unknown): Json => (isObject(value) ? value : { value })
const fieldOf = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined)
const textOf = (value: unknown): string => JSON.stringify(value) ?? ''
