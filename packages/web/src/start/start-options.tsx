import type { Mode, ThinkingLevel } from '@holdfast/protocol'
import { ModelPicker } from '../models/model-picker.tsx'
import { levelsOf } from '../models/model-text.ts'
import { useServerFacts } from '../models/server-context.ts'
import { ThinkingMenu } from '../models/thinking-menu.tsx'
import { Menu, MenuChoices } from '../ui/menu.tsx'
import { ModeSwitch } from '../ui/mode-switch.tsx'

/** How a session starts, besides its folder and first prompt. */
export type StartWish = {
  /** Null for the default of the server. */
  readonly model: string | null
  readonly thinkingLevel: ThinkingLevel
  readonly mode: Mode
  readonly permission: PermissionChoice
}

export type PermissionChoice = 'destructive' | 'all' | 'none' | 'readOnly'

export const firstWish: StartWish = { model: null, thinkingLevel: 'off', mode: 'exec', permission: 'destructive' }

const permissions: readonly { readonly value: PermissionChoice; readonly name: string; readonly text: string }[] = [
  { value: 'destructive', name: 'Asks before changes', text: 'It reads freely, and asks before it changes something.' },
  { value: 'all', name: 'Asks before every call', text: 'It asks even before it reads a file.' },
  { value: 'readOnly', name: 'Only reads', text: 'It has no tools that change something.' },
  { value: 'none', name: 'Never asks', text: 'It changes files and runs commands on its own. Your rules still apply.' },
]

type StartOptionsProps = { readonly wish: StartWish; readonly onChange: (wish: StartWish) => void }

/** Model, thinking level, mode and permissions of a new session. */
export function StartOptions({ wish, onChange }: StartOptionsProps) {
  const { models } = useServerFacts()
  const { model, thinkingLevel, mode, permission } = wish
  const chooseModel = (next: string) => {
    const levels = levelsOf(models, next)
    const level = levels.includes(thinkingLevel) ? thinkingLevel : (levels[0] ?? 'off')
    onChange({ ...wish, model: next, thinkingLevel: level })
  }
  const chosen = permissions.find(({ value }) => value === permission)
  return (
    <div className="chips">
      <ModelPicker model={model} onChoose={chooseModel} />
      <ThinkingMenu
        {...{ model }}
        level={thinkingLevel}
        onChoose={(next) => onChange({ ...wish, thinkingLevel: next })}
      />
      <ModeSwitch mode={mode} isOff={false} onMode={(next) => onChange({ ...wish, mode: next })} />
      <Menu
        label="Permissions"
        className="wide"
        trigger={
          <button type="button" className="chip">
            {chosen?.name}
            <span aria-hidden="true">▾</span>
          </button>
        }
      >
        <MenuChoices
          label="Permissions"
          value={permission}
          choices={permissions}
          onChoose={(value) =>
            onChange({ ...wish, permission: permissions.find((one) => one.value === value)?.value ?? permission })
          }
        />
      </Menu>
    </div>
  )
}
