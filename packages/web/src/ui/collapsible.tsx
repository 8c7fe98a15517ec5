import { type ReactNode, useId, useState } from 'react'

type FoldProps = {
  readonly className: string
  /** The header; it toggles the content. */
  readonly head: ReactNode
  readonly label: string
  /** The initial state; a change resets it. */
  readonly isOpenAtFirst: boolean
  /** Called on each toggle. */
  readonly onFold?: () => void
  /** Its element id. */
  readonly elementId?: string
  /** Below the header, also while it is collapsed. */
  readonly strip?: ReactNode
  readonly children: () => ReactNode
}

/** A collapsible section. Collapsed content is not drawn, so a long transcript stays fast. */
export function Collapsible(props: FoldProps) {
  const { className, head, label, isOpenAtFirst, onFold, elementId, strip, children } = props
  const [chosen, setChosen] = useState<{ readonly isOpen: boolean; readonly atFirst: boolean } | null>(null)
  const id = useId()
  const isOpen = chosen?.atFirst === isOpenAtFirst ? chosen.isOpen : isOpenAtFirst
  const toggle = () => {
    setChosen({ isOpen: !isOpen, atFirst: isOpenAtFirst })
    onFold?.()
  }
  return (
    <div id={elementId} className={`fold ${className}`} tabIndex={elementId === undefined ? undefined : -1}>
      <button
        type="button"
        className="fold-head"
        aria-expanded={isOpen}
        aria-controls={id}
        aria-label={label}
        onClick={toggle}
      >
        <svg className="chevron" viewBox="0 0 12 12" aria-hidden="true">
          <path d="M4.500 2.500 8 6l-3.500 3.500" />
        </svg>
        {head}
      </button>
      {strip}
      <div id={id} className="fold-body" hidden={!isOpen}>
        {isOpen && children()}
      </div>
    </div>
  )
}
