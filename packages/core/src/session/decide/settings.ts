import {
  type ClientId,
  type Event,
  fault,
  isOnLine,
  limits,
  type Mode,
  ok,
  type RotationEntry,
  refuse,
  type Settings,
  ThinkingLevel,
} from '@holdfast/protocol'
import type { Facts } from '../facts.ts'
import type { CommandOf, Decided, Events, ReportOf } from '../input.ts'
import { askedCalls, type Pin, type SessionState } from '../state.ts'
import { settle } from './call.ts'
import { turnRunning } from './prompt.ts'

/** Sets the model from the next step on. */
export const setModel = ({ settings }: SessionState, { model }: CommandOf<'setModel'>): Events =>
  settings.model === model ? [] : [{ type: 'settings.changed', model }]

/** Goes to the next entry that changes something. An entry without a level keeps the current one. */
export function cycleModel(
  { settings }: SessionState,
  { direction }: CommandOf<'cycleModel'>,
  { rotation = [] }: Facts,
): Decided {
  const stride = direction === 'previous' ? -1 : 1
  const total = rotation.length
  const from = indexIn(rotation, settings)
  for (let away = 1; away <= total; away++) {
    // A model outside the rotation goes to the first entry, or backwards to the last.
    const index = from === -1 && stride === -1 ? total - away : (from + stride * away + total) % total
    const { model, thinkingLevel = settings.thinkingLevel } = rotation[index] ?? settings
    if (model === settings.model && thinkingLevel === settings.thinkingLevel) continue
    return ok([{ type: 'settings.changed', model, thinkingLevel, cycled: { index, total } }])
  }
  const message =
    total === 0
      ? 'The rotation has no models. Name some under rotation in the configuration, or set the model by its name.'
      : 'The rotation has no other model. Name more under rotation in the configuration, or add the keys they need.'
  return refuse(fault('no_rotation', message, { total }))
}

/** Returns the index of the session's model and level in the rotation, else of its model, else -1. */
function indexIn(rotation: readonly RotationEntry[], { model, thinkingLevel }: Settings): number {
  const exact = rotation.findIndex((one) => one.model === model && one.thinkingLevel === thinkingLevel)
  return exact === -1 ? rotation.findIndex((one) => one.model === model) : exact
}

export const setThinkingLevel = (
  { settings }: SessionState,
  { level: thinkingLevel }: Pick<CommandOf<'setThinkingLevel'>, 'level'>,
): Events => (settings.thinkingLevel === thinkingLevel ? [] : [{ type: 'settings.changed', thinkingLevel }])

/** Goes to the next level that the model knows; after the highest, to the lowest. */
export function cycleThinkingLevel(state: SessionState, { thinkingLevels = ThinkingLevel.options }: Facts): Events {
  const { thinkingLevel: level } = state.settings
  const levels = ThinkingLevel.options.filter((one) => thinkingLevels.includes(one))
  return setThinkingLevel(state, { level: levels[(levels.indexOf(level) + 1) % levels.length] ?? level })
}

/** Changes the mode. Entering plan mode cancels every open question. */
export function enterMode(
  state: SessionState,
  mode: Mode,
  by: ClientId | null,
  keepPlan = false,
  found: Pin | null = null,
): Events {
  // After a move to another line, the last answer is found by reading that line.
  const lastAnswer = state.lastAnswer ?? (found && isOnLine(state.line, found.message) ? found : null)
  const isPinned = state.pins.some(({ message }) => message === lastAnswer?.message)
  const kept: Event[] =
    keepPlan && lastAnswer && !isPinned ? [{ type: 'message.pinned', ...lastAnswer, pinned: true }] : []
  if (state.settings.mode === mode) return kept
  const changed: Event = { type: 'settings.changed', mode }
  if (mode === 'exec') return [changed, ...kept]
  const cancelled = askedCalls(state).map(({ id }) => settle(id, { type: 'interrupted', code: 'cancelled' }, by))
  return [changed, ...cancelled]
}

export function pinSession({ isPinned }: SessionState, { pinned = !isPinned }: CommandOf<'pinSession'>): Events {
  return pinned === isPinned ? [] : [{ type: 'settings.changed', pinned }]
}

/** Lets the session use a server, or no longer. */
export function setServer({ settings }: SessionState, { server, on }: CommandOf<'setServer'>): Decided {
  const before = settings.serversOff ?? []
  if (before.includes(server) !== on) return ok([])
  const serversOff = on ? before.filter((name) => name !== server) : [...before, server]
  if (serversOff.length > limits.serversOffMax)
    return refuse(fault('bad_request', `A session can turn off at most ${limits.serversOffMax} servers.`, { server }))
  return ok([{ type: 'settings.changed', serversOff }])
}

export function rename({ settings }: SessionState, { title }: CommandOf<'rename'>): Events {
  return title === (settings.title ?? '') ? [] : [{ type: 'settings.changed', title }]
}

/** Sets the title that a model wrote, unless a person has named the session or removed its name. */
export function addTitle({ settings }: SessionState, { title, model, usage }: ReportOf<'title.written'>): Events {
  return settings.title === undefined ? [{ type: 'settings.changed', title, named: { model, usage } }] : []
}

/** Moves an idle session to another folder: a turn must end in the folder it began in. */
export function moveWorkdir(
  { turn, origin }: SessionState,
  command: CommandOf<'moveWorkdir'>,
  { workdir = command.workdir }: Facts,
): Decided {
  if (turn.phase !== 'idle') return refuse(turnRunning)
  return ok(workdir === origin?.workdir ? [] : [{ type: 'settings.changed', workdir }])
}
