import { type ReactNode, useId, useState } from 'react'

type FoldProps = {
  readonly className: string
  /** What is always seen; it is the button that folds. */
  readonly head: ReactNode
  readonly label: string
  /** Open or not until a person says otherwise; when this changes, it is said anew. */
  readonly isOpenAtFirst: boolean
  /** Told of it, besides. */
  readonly onFold?: () => void
  /** Its place on the page. */
  readonly place?: string
  readonly children: () => ReactNode
}

/** Something that folds. What is folded away is not drawn at all, so a long transcript stays light. */
export function Fold({ className, head, label, isOpenAtFirst, onFold, place, children }: FoldProps) {
  const [said, setSaid] = useState<{ readonly isOpen: boolean; readonly atFirst: boolean } | null>(null)
  const id = useId()
  const isOpen = said?.atFirst === isOpenAtFirst ? said.isOpen : isOpenAtFirst
  const toggle = () => {
    setSaid({ isOpen: !isOpen, atFirst: isOpenAtFirst })
    onFold?.()
  }
  return (
    <div id={place} className={`fold ${className}`} tabIndex={place === undefined ? undefined : -1}>
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
      <div id={id} className="fold-body" hidden={!isOpen}>
        {isOpen && children()}
      </div>
    </div>
  )
}
