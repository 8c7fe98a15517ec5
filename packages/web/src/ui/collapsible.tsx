import { type ReactNode, useId, useState } from 'react'

type FoldProps = {
  readonly className: string
  /** The header; it toggles the content. */
  readonly head: ReactNode
  /** Its name, if that is not what the header says. */
  readonly label?: string
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

type Chosen = { readonly isOpen: boolean; readonly atFirst: boolean }

/** What a person opened or closed, by element id: a row that scrolls out of sight and back is as it was. */
const keptChoices = new Map<string, Chosen>()
const keptChoicesMax = 500

function keepChoice(id: string, choice: Chosen): void {
  keptChoices.delete(id)
  keptChoices.set(id, choice)
  for (const oldest of keptChoices.keys()) {
    if (keptChoices.size <= keptChoicesMax) break
    keptChoices.delete(oldest)
  }
}

/** A collapsible section. Collapsed content is not drawn, so a long transcript stays fast. */
export function Collapsible(props: FoldProps) {
  const { className, head, label, isOpenAtFirst, onFold, elementId, strip, children } = props
  const [chosen, setChosen] = useState<Chosen | null>(() => keptChoices.get(elementId ?? '') ?? null)
  const id = useId()
  const isOpen = chosen?.atFirst === isOpenAtFirst ? chosen.isOpen : isOpenAtFirst
  const toggle = () => {
    const choice = { isOpen: !isOpen, atFirst: isOpenAtFirst }
    setChosen(choice)
    if (elementId !== undefined) keepChoice(elementId, choice)
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
