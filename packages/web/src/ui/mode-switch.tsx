import type { Mode } from '@holdfast/protocol'
import { ariaKeys, keyText } from '../keys/key-hint.tsx'
import { useKey } from '../keys/use-key.ts'

type ModeSwitchProps = {
  readonly mode: Mode
  readonly isOff: boolean
  readonly onMode: (mode: Mode) => void
}

const modes = [
  { mode: 'exec', word: 'Exec', title: 'The agent may make changes; it asks first' },
  { mode: 'plan', word: 'Plan', title: 'The agent only reads and plans' },
] as const

/** Switches between plan and exec, also by a key. */
export function ModeSwitch({ mode, isOff, onMode }: ModeSwitchProps) {
  useKey('togglePlan', () => onMode(mode === 'plan' ? 'exec' : 'plan'), !isOff)
  return (
    <fieldset className="mode-switch" aria-label="Mode">
      {modes.map((one) => (
        <button
          key={one.mode}
          type="button"
          title={`${one.title}${one.mode === mode ? '' : keyText('togglePlan')}`}
          aria-pressed={one.mode === mode}
          aria-keyshortcuts={one.mode === mode ? undefined : ariaKeys('togglePlan')}
          disabled={isOff}
          onClick={() => one.mode !== mode && onMode(one.mode)}
        >
          {one.word}
        </button>
      ))}
    </fieldset>
  )
}
