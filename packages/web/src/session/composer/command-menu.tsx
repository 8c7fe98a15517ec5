import { escapeLine, type SlashCommand } from '@holdfast/protocol'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
import type { DraftText } from '../state/draft-text.ts'
import { useSession } from '../state/session-context.ts'
import { completedText, matchCommands } from './match-commands.ts'

/** Completes slash commands in the input box. */
export function useCommandMenu(draft: DraftText) {
  const { handle } = useSession()
  const listId = useId()
  const [commands, setCommands] = useState<readonly SlashCommand[]>([])
  const [chosen, setChosen] = useState(0)
  const [closedAt, setClosedAt] = useState<string | null>(null)
  const { text } = draft
  const isSlash = text.startsWith('/')
  // Loaded anew for each command that is typed: files may have changed.
  useEffect(() => {
    if (!isSlash) return
    let isLeft = false
    void handle.commands().then((answer) => {
      if (!isLeft && answer.ok) setCommands(answer.value)
    })
    return () => {
      isLeft = true
    }
  }, [handle, isSlash])
  const found = closedAt === text ? [] : matchCommands(commands, text)
  const at = Math.min(chosen, found.length - 1)
  const complete = (command: SlashCommand) => {
    const next = completedText(command)
    draft.write(next)
    setClosedAt(next)
    setChosen(0)
  }

  /** Handles a key of the input box. Returns whether it was one of the menu. */
  const onKey = (event: KeyboardEvent): boolean => {
    const command = found[at]
    if (command === undefined || event.nativeEvent.isComposing || event.ctrlKey || event.altKey || event.metaKey)
      return false
    // Enter sends a command whose name is complete.
    const isComplete = event.key === 'Enter' && found.some(({ name }) => text === `/${name}`)
    if (event.key === 'ArrowDown') setChosen((at + 1) % found.length)
    else if (event.key === 'ArrowUp') setChosen((at + found.length - 1) % found.length)
    else if (event.key === 'Escape') setClosedAt(text)
    else if (event.key === 'Tab' || (event.key === 'Enter' && !event.shiftKey && !isComplete)) complete(command)
    else return false
    event.preventDefault()
    return true
  }
  return { found, at, listId, complete, onKey }
}

export const optionId = (listId: string, index: number): string => `${listId}-${index}`

/** Lists the slash commands that fit what is typed. */
export function CommandMenu({ found, at, listId, complete }: ReturnType<typeof useCommandMenu>) {
  if (found.length === 0) return null
  return (
    <div id={listId} className="command-menu" role="listbox" aria-label="Slash commands">
      {found.map((command, index) => (
        <div
          key={command.name}
          id={optionId(listId, index)}
          role="option"
          aria-selected={index === at}
          tabIndex={-1}
          onMouseDown={(event) => {
            event.preventDefault() // the input box keeps the focus
            complete(command)
          }}
        >
          <code>
            /{escapeLine(command.name)}
            {command.arguments !== null && <span> {escapeLine(command.arguments)}</span>}
          </code>
          <span className="command-about">{escapeLine(command.description)}</span>
        </div>
      ))}
    </div>
  )
}
