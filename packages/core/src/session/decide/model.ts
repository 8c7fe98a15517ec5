import {
  type Event,
  fault,
  type ModelCommand,
  ok,
  type Result,
  type RotationEntry,
  refuse,
  type Settings,
  ThinkingLevel,
  unreachable,
} from '@holdfast/protocol'
import type { Facts, SessionCommand } from '../input.ts'
import type { SessionState } from '../state.ts'

/** Decides which model is called and how hard it thinks, from the next step on. */
export function decideModelCommand(
  { settings }: SessionState,
  command: Extract<SessionCommand, ModelCommand>,
  { rotation = [], thinkingLevels = ThinkingLevel.options }: Facts,
): Result<readonly Event[]> {
  switch (command.type) {
    case 'setModel':
      return ok(settings.model === command.model ? [] : [{ type: 'settings.changed', model: command.model }])
    case 'cycleModel':
      return cycleModel(settings, rotation, command.direction === 'previous' ? -1 : 1)
    case 'setThinkingLevel':
      return thinkAt(settings, command.level)
    case 'cycleThinkingLevel':
      return thinkAt(settings, levelAfter(settings.thinkingLevel, thinkingLevels))
    default:
      return unreachable(command)
  }
}

const thinkAt = (settings: Settings, thinkingLevel: ThinkingLevel): Result<readonly Event[]> =>
  ok(settings.thinkingLevel === thinkingLevel ? [] : [{ type: 'settings.changed', thinkingLevel }])

/** Returns the next level that the model knows, from the lowest on and around. */
function levelAfter(level: ThinkingLevel, known: readonly ThinkingLevel[]): ThinkingLevel {
  const levels = ThinkingLevel.options.filter((one) => known.includes(one))
  return levels[(levels.indexOf(level) + 1) % levels.length] ?? level
}

/** Goes to the next entry that changes something. An entry without a level keeps the current one. */
function cycleModel(settings: Settings, rotation: readonly RotationEntry[], stride: 1 | -1): Result<readonly Event[]> {
  const total = rotation.length
  const from = placeIn(rotation, settings)
  for (let away = 1; away <= total; away++) {
    // A model outside the rotation goes to the first entry, or backwards to the last.
    const index = from === -1 && stride === -1 ? total - away : (from + stride * away + total) % total
    const { model, thinkingLevel = settings.thinkingLevel } = rotation[index] ?? settings
    if (model === settings.model && thinkingLevel === settings.thinkingLevel) continue
    return ok([{ type: 'settings.changed', model, thinkingLevel, cycled: { index, total } }])
  }
  return refuse(nowhereToGo(total))
}

/** Returns the index of the session's model and level in the rotation, else of its model, else -1. */
function placeIn(rotation: readonly RotationEntry[], { model, thinkingLevel }: Settings): number {
  const exact = rotation.findIndex((one) => one.model === model && one.thinkingLevel === thinkingLevel)
  return exact === -1 ? rotation.findIndex((one) => one.model === model) : exact
}

const nowhereToGo = (total: number) =>
  fault(
    'no_rotation',
    total === 0
      ? 'There are no models to go round. Name some under rotation in the configuration, or set the model by its name.'
      : 'There is no other model to go to. Name more under rotation in the configuration, or add the keys they need.',
    { total },
  )
