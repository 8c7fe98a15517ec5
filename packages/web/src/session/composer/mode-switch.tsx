import type { Mode } from '@holdfast/protocol'
import { useState } from 'react'

type ModeSwitchProps = {
  readonly mode: Mode
  readonly onMode: (mode: Mode, keepPlan: boolean) => void
}

const modes = [
  { mode: 'exec', word: 'Exec', title: 'The agent may make changes; it asks first' },
  { mode: 'plan', word: 'Plan', title: 'The agent only reads and plans' },
] as const

/** Switches between plan and exec. The plan can be pinned to the context. */
export function ModeSwitch({ mode, onMode }: ModeSwitchProps) {
  const [keepsPlan, setKeepsPlan] = useState(false)
  return (
    <>
      <fieldset className="mode-switch" aria-label="Mode">
        {modes.map((one) => (
          <button
            key={one.mode}
            type="button"
            title={one.title}
            aria-pressed={one.mode === mode}
            onClick={() => one.mode !== mode && onMode(one.mode, keepsPlan)}
          >
            {one.word}
          </button>
        ))}
      </fieldset>
      {mode === 'plan' && (
        <label
          className="keep-plan"
          title="When you switch to Exec, pin the last answer, so that the plan stays in the context"
        >
          <input type="checkbox" checked={keepsPlan} onChange={(event) => setKeepsPlan(event.target.checked)} />
          Keep the plan
        </label>
      )}
    </>
  )
}
