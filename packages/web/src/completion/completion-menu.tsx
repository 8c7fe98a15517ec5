import type { useCompletion } from './use-completion.ts'

const optionId = (listId: string, index: number): string => `${listId}-${index}`

type Shown = ReturnType<typeof useCompletion>
type CompletionMenuProps = Pick<Shown, 'found' | 'at' | 'listId' | 'label' | 'complete'>

/** Returns the open list and its chosen line, for the input box; null while nothing is listed. */
export const shownCompletion = ({ found, at, listId }: Pick<Shown, 'found' | 'at' | 'listId'>) =>
  found.length > 0 ? { listId, optionId: optionId(listId, at) } : null

/** Lists the slash commands or files that fit what is typed. */
export function CompletionMenu({ found, at, listId, label, complete }: CompletionMenuProps) {
  if (found.length === 0) return null
  return (
    <div id={listId} className="command-menu" role="listbox" aria-label={label}>
      {found.map((one, index) => (
        <div
          key={one.key}
          id={optionId(listId, index)}
          role="option"
          aria-selected={index === at}
          tabIndex={-1}
          onMouseDown={(event) => {
            event.preventDefault() // the input box keeps the focus
            complete(one)
          }}
        >
          <code>
            {one.name}
            {one.arguments !== null && <span> {one.arguments}</span>}
          </code>
          <span className="command-about">{one.about}</span>
        </div>
      ))}
    </div>
  )
}
