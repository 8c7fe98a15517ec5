import { type ReactNode, useId } from 'react'

type PanelSectionProps = {
  readonly title: string
  /** A word beside the title, such as a count. */
  readonly about?: ReactNode
  readonly children: ReactNode
}

/** A part of the panel with its heading. */
export function PanelSection({ title, about, children }: PanelSectionProps) {
  const id = useId()
  return (
    <section className="panel-section" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {about !== undefined && <span className="panel-about">{about}</span>}
      </header>
      {children}
    </section>
  )
}
