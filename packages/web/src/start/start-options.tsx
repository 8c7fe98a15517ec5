import type { Mode, ThinkingLevel } from '@holdfast/protocol'
import { ModelPicker } from '../models/model-picker.tsx'
import { levelsOf } from '../models/model-text.ts'
import { useServerFacts } from '../models/server-context.ts'
import { ThinkingMenu } from '../models/thinking-menu.tsx'
import { ModeSwitch } from '../ui/mode-switch.tsx'
import { type PermissionChoice, PermissionMenu } from './permission-menu.tsx'

/** How a session starts, besides its folder and first prompt. */
export type StartWish = {
  /** Null for the default of the server. */
  readonly model: string | null
  readonly thinkingLevel: ThinkingLevel
  readonly mode: Mode
  readonly permission: PermissionChoice
}

export const firstWish: StartWish = { model: null, thinkingLevel: 'off', mode: 'exec', permission: 'destructive' }

type StartOptionsProps = {
  readonly wish: StartWish
  readonly onChange: (wish: StartWish) => void
  readonly isOff: boolean
}

/** Model, thinking level, mode and permissions of a new session. */
export function StartOptions({ wish, onChange, isOff }: StartOptionsProps) {
  const { models } = useServerFacts()
  const { model, thinkingLevel, mode, permission } = wish
  const chooseModel = (next: string) => {
    const levels = levelsOf(models, next)
    const level = levels.includes(thinkingLevel) ? thinkingLevel : (levels[0] ?? 'off')
    onChange({ ...wish, model: next, thinkingLevel: level })
  }
  return (
    <div className="chips">
      <ModelPicker model={model} onChoose={chooseModel} isOff={isOff} />
      <ThinkingMenu
        model={model}
        isOff={isOff}
        level={thinkingLevel}
        onChoose={(next) => onChange({ ...wish, thinkingLevel: next })}
      />
      <ModeSwitch mode={mode} isOff={isOff} onMode={(next) => onChange({ ...wish, mode: next })} />
      <PermissionMenu
        permission={permission}
        isOff={isOff}
        onChoose={(next) => onChange({ ...wish, permission: next })}
      />
    </div>
  )
}
