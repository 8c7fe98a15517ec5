import { type ReactNode, useId } from 'react'
import { type PanelPart, panelPartId } from './use-panel.ts'

type PanelSectionProps = {
  readonly title: string
  /** A word beside the title, such as a count. */
  readonly about?: ReactNode
  /** Its name, if the header leads to it. */
  readonly part?: PanelPart
  readonly children: ReactNode
}

/** A part of the panel with its heading. */
export function PanelSection({ title, about, part, children }: PanelSectionProps) {
  const id = useId()
  const target = part === undefined ? {} : { id: panelPartId(part), tabIndex: -1 }
  return (
    <section className="panel-section" aria-labelledby={id} {...target}>
      <header>
        <h2 id={id}>{title}</h2>
        {about !== undefined && <span className="panel-about">{about}</span>}
      </header>
      {children}
    </section>
  )
}

/** Shows that content is loading. */
export const Loading = () => (
  <p className="nothing" role="status" aria-busy="true">
    Loading…
  </p>
)
