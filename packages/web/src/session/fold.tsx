import { type ReactNode, useId, useState } from 'react'

type FoldProps = {
  readonly className: string
  /** What is always seen; it is the button that folds. */
  readonly head: ReactNode
  readonly label: string
  /** Open or not until a person says otherwise. */
  readonly isOpenAtFirst: boolean
  readonly children: () => ReactNode
}

/** Something that folds. What is folded away is not drawn at all, so a long transcript stays light. */
export function Fold({ className, head, label, isOpenAtFirst, children }: FoldProps) {
  const [said, setSaid] = useState<boolean | null>(null)
  const id = useId()
  const isOpen = said ?? isOpenAtFirst
  return (
    <div className={`fold ${className}`}>
      <button
        type="button"
        className="fold-head"
        aria-expanded={isOpen}
        aria-controls={id}
        aria-label={label}
        onClick={() => setSaid(!isOpen)}
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
