import { type ReactNode, useId } from 'react'

type SectionProps = { readonly title: string; readonly text?: string; readonly children: ReactNode }

/** A part of the settings, with its heading. */
export function Section({ title, text, children }: SectionProps) {
  const id = useId()
  return (
    <section className="settings-section" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {text !== undefined && <p className="settings-note">{text}</p>}
      {children}
    </section>
  )
}

type ChoiceRowProps<Value extends string> = {
  readonly label: string
  readonly values: readonly Value[]
  readonly value: Value
  readonly onChange: (value: Value) => void
}

/** Shows a setting with a few values; exactly one is on. */
export function ChoiceRow<Value extends string>({ label, values, value, onChange }: ChoiceRowProps<Value>) {
  return (
    <div className="switch-row">
      <span>{label}</span>
      <fieldset className="mode-switch" aria-label={label}>
        {values.map((one) => (
          <button key={one} type="button" aria-pressed={one === value} onClick={() => onChange(one)}>
            {one.charAt(0).toUpperCase() + one.slice(1)}
          </button>
        ))}
      </fieldset>
    </div>
  )
}
