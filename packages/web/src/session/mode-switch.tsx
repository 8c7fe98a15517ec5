import type { Mode } from '@holdfast/protocol'

type ModeSwitchProps = { readonly mode: Mode; readonly onMode: (mode: Mode) => void }

const modes = [
  { mode: 'exec', word: 'Exec', title: 'The agent may change things; it asks first' },
  { mode: 'plan', word: 'Plan', title: 'The agent only reads and plans' },
] as const

export function ModeSwitch({ mode, onMode }: ModeSwitchProps) {
  return (
    <fieldset className="mode-switch" aria-label="Mode">
      {modes.map((one) => (
        <button
          key={one.mode}
          type="button"
          title={one.title}
          aria-pressed={one.mode === mode}
          onClick={() => one.mode !== mode && onMode(one.mode)}
        >
          {one.word}
        </button>
      ))}
    </fieldset>
  )
}
