import type { Panel, PanelPart } from '../panel/use-panel.ts'

type PanelLinkProps = {
  readonly panel: Panel
  readonly part: PanelPart
  readonly label: string
  /** What a screen reader says and a pointer shows. */
  readonly said: string
  /** Something runs there now. */
  readonly isLive?: boolean
}

/** A button of the header that opens the panel at one of its parts. */
export function PanelLink({ panel, part, label, said, isLive = false }: PanelLinkProps) {
  return (
    <button
      type="button"
      className="quiet header-menu-button panel-link"
      aria-label={said}
      title={said}
      onClick={() => panel.show(part)}
    >
      {isLive && <span className="dot running" aria-hidden="true" />}
      {label}
    </button>
  )
}
