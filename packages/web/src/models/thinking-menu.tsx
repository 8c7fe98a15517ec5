import type { ThinkingLevel } from '@holdfast/protocol'
import { useState } from 'react'
import { useKey } from '../keys/use-key.ts'
import { Menu, MenuChoices } from '../ui/menu.tsx'
import { levelsOf } from './model-text.ts'
import { useServerFacts } from './server-context.ts'

type ThinkingMenuProps = {
  /** The model whose levels are offered; null for the default of the server. */
  readonly model: string | null
  readonly level: ThinkingLevel
  readonly onChoose: (level: ThinkingLevel) => void
  readonly isOff?: boolean
  readonly side?: 'top' | 'bottom'
}

const texts: Readonly<Record<ThinkingLevel, string>> = {
  off: 'Answers at once.',
  low: 'Thinks briefly first.',
  medium: 'Thinks before hard steps.',
  high: 'Thinks long. Slower and dearer.',
}

/** Chooses how much the model thinks. A model that cannot think has no choice to offer. */
export function ThinkingMenu({ model, level, onChoose, isOff = false, side = 'bottom' }: ThinkingMenuProps) {
  const { models } = useServerFacts()
  const levels = levelsOf(models, model)
  const hasChoice = levels.length >= 2 || levels[0] !== level
  const [isOpen, setOpen] = useState(false)
  useKey('thinking', () => setOpen(true), hasChoice && !isOff)
  if (!hasChoice) return null
  const choices = [...new Set([...levels, level])].map((one) => ({ value: one, name: capital(one), text: texts[one] }))
  return (
    <Menu
      label="Thinking"
      isOpen={isOpen}
      onOpen={setOpen}
      side={side}
      trigger={
        <button type="button" className="chip" disabled={isOff}>
          Thinking: {level}
          <span aria-hidden="true">▾</span>
        </button>
      }
    >
      <MenuChoices label="Thinking" value={level} choices={choices} onChoose={(next) => onChoose(levelOf(next))} />
    </Menu>
  )
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

const levelOf = (text: string): ThinkingLevel => (text === 'low' || text === 'medium' || text === 'high' ? text : 'off')
