import { Switch as Base } from '@base-ui/react/switch'
import { useId } from 'react'

type SwitchProps = {
  readonly label: string
  /** A sentence below the label. */
  readonly text?: string
  readonly isOn: boolean
  readonly isOff?: boolean
  readonly onChange: (isOn: boolean) => void
}

/** A setting that is on or off, with its label. `isOff` disables it. */
export function Switch({ label, text, isOn, isOff = false, onChange }: SwitchProps) {
  const id = useId()
  return (
    <div className="switch-row">
      <div>
        <span id={id}>{label}</span>
        {text !== undefined && <small id={`${id}-text`}>{text}</small>}
      </div>
      <Base.Root
        className="switch"
        aria-labelledby={id}
        aria-describedby={text === undefined ? undefined : `${id}-text`}
        checked={isOn}
        disabled={isOff}
        onCheckedChange={(on) => onChange(on)}
      >
        <Base.Thumb className="switch-thumb" />
      </Base.Root>
    </div>
  )
}
