import {
  type Fault,
  fault,
  type ModelCommand,
  type ModelName,
  ok,
  type Result,
  refuse,
  ThinkingLevel,
  unreachable,
} from '@holdfast/protocol'
import type { Facts } from '../../session/input.ts'
import type { EffectDeps } from '../dependencies.ts'

type Parts = Pick<EffectDeps, 'models' | 'state'>

/** What has to be known of models before one is chosen: which there are, what they know, whether they can be called. */
export async function resolveModelCommand(parts: Parts, command: ModelCommand): Promise<Result<Facts>> {
  switch (command.type) {
    case 'setModel': {
      const refusal = refuseModel(parts, command.model)
      return refusal ? refuse(refusal) : ok({})
    }
    case 'cycleModel':
      return ok({ rotation: parts.models.rotation() })
    case 'setThinkingLevel': {
      const known = knownLevels(parts)
      return known.includes(command.level) ? ok({}) : refuse(unknownLevel(parts, command.level, known))
    }
    case 'cycleThinkingLevel':
      return ok({ thinkingLevels: knownLevels(parts) })
    case 'refreshCredentials': {
      const refreshed = await parts.models.refresh()
      return refreshed.ok ? ok({}) : refreshed
    }
    default:
      return unreachable(command)
  }
}

/** Why the model cannot be called, in its own words: they say what to do. */
export function refuseModel({ models, state }: Parts, model: ModelName = state().settings.model): Fault | null {
  const found = models.find(model)
  return found.type === 'ready' ? null : fault(found.type, found.message, { model })
}

/** Of a model that cannot be asked, any level may be one it knows. */
function knownLevels({ models, state }: Parts): readonly ThinkingLevel[] {
  const model = models.find(state().settings.model)
  return (model.type === 'ready' ? model.thinkingLevels : undefined) ?? ThinkingLevel.options
}

function unknownLevel({ state }: Parts, level: ThinkingLevel, known: readonly ThinkingLevel[]): Fault {
  const { model } = state().settings
  const message = `${model} knows no thinking level ${level}. It knows: ${known.join(', ')}.`
  return fault('unknown_level', message, { model, known: [...known] })
}
