import { Autocomplete } from '@base-ui/react/autocomplete'
import { Combobox } from '@base-ui/react/combobox'
import { type ReactElement, type ReactNode, useState } from 'react'

type SuggestFieldProps = {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  /** What to offer for the value. It is shown unfiltered: the parent filters it. */
  readonly suggestions: readonly string[]
  /** Draws one suggestion; by default its text. */
  readonly draw?: (suggestion: string) => ReactNode
  readonly onFocus?: () => void
  readonly placeholder?: string
  readonly isRequired?: boolean
  /** Called for Enter without a chosen suggestion. It sends no form. */
  readonly onEnter?: () => void
}

/** A text field with suggestions. Any text may be entered. Arrow keys choose, Tab or Enter takes, Escape closes the list. */
export function SuggestField(props: SuggestFieldProps) {
  const { label, value, onChange, suggestions, draw, onFocus, placeholder, isRequired = false, onEnter } = props
  const [isOpen, setOpen] = useState(false)
  return (
    <Autocomplete.Root
      items={suggestions}
      value={value}
      onValueChange={(next, { reason }) => {
        if (reason === 'escape-key') return // the library empties the field when its list is closed
        onChange(next)
        setOpen(reason !== 'item-press')
      }}
      mode="none"
      open={isOpen && suggestions.length > 0}
      // An empty field offers what there is, too.
      onOpenChange={(open, { reason }) => (open || reason !== 'input-clear') && setOpen(open)}
    >
      <Autocomplete.Input
        className="suggest"
        aria-label={label}
        placeholder={placeholder}
        required={isRequired}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        onFocus={onFocus}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.nativeEvent.isComposing) return
          event.preventDefault() // it takes a suggestion, or closes the list
          if (event.currentTarget.getAttribute('aria-activedescendant')) return
          setOpen(false)
          onEnter?.()
        }}
        onBlur={() => setOpen(false)} // while it is open, the rest of the page is not read out
      />
      <Autocomplete.Portal>
        <Autocomplete.Positioner className="positioner" align="start" sideOffset={4} collisionPadding={8}>
          <Autocomplete.Popup className="popup options">
            <Autocomplete.List>
              {(suggestion: string) => (
                <Autocomplete.Item key={suggestion} className="option" value={suggestion}>
                  {draw?.(suggestion) ?? suggestion}
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Popup>
        </Autocomplete.Positioner>
      </Autocomplete.Portal>
    </Autocomplete.Root>
  )
}

/** A group of choices with a heading. */
export type ChoiceGroup<Choice> = { readonly label: string; readonly items: readonly Choice[] }

type PickerProps<Choice> = {
  /** The button that opens it. */
  readonly trigger: ReactElement
  /** The name of the list and of its search field. */
  readonly label: string
  readonly groups: readonly ChoiceGroup<Choice>[]
  readonly value: Choice | null
  readonly idOf: (choice: Choice) => string
  /** What the button is called when the choice is chosen. */
  readonly nameOf: (choice: Choice) => string
  /** The text that a search looks at. */
  readonly textOf: (choice: Choice) => string
  readonly draw: (choice: Choice) => ReactNode
  readonly onChoose: (choice: Choice) => void
  readonly isOpen?: boolean
  readonly onOpen?: (isOpen: boolean) => void
  readonly side?: 'top' | 'bottom'
  /** Said when nothing matches. */
  readonly emptyText?: string
  /** Drawn below the list. */
  readonly footer?: ReactNode
}

/** A button that opens a searchable list of choices in groups. */
export function Picker<Choice>(props: PickerProps<Choice>) {
  const { trigger, label, groups, value, idOf, nameOf, textOf, draw, onChoose } = props
  const { isOpen, onOpen, side = 'bottom', footer, emptyText = 'Nothing matches. Clear the search to see all.' } = props
  return (
    <Combobox.Root<Choice>
      items={groups}
      value={value}
      onValueChange={(choice) => choice !== null && onChoose(choice)}
      isItemEqualToValue={(one, other) => idOf(one) === idOf(other)}
      itemToStringLabel={textOf}
      filter={(choice: Choice, query) => matchesAll(textOf(choice), query)}
      autoHighlight
      {...(isOpen !== undefined && { open: isOpen })}
      onOpenChange={(open) => onOpen?.(open)}
    >
      <Combobox.Trigger render={trigger} aria-label={`${label}: ${value === null ? 'none' : nameOf(value)}`} />
      <Combobox.Portal>
        <Combobox.Positioner className="positioner" side={side} align="start" sideOffset={4} collisionPadding={8}>
          <Combobox.Popup className="popup picker" aria-label={label}>
            <Combobox.Input aria-label={`Search: ${label}`} placeholder="Search" spellCheck={false} />
            <Combobox.Empty className="picker-empty">{emptyText}</Combobox.Empty>
            <Combobox.List className="picker-list">
              {(group: ChoiceGroup<Choice>) => (
                <Combobox.Group key={group.label} items={group.items} className="picker-group">
                  <Combobox.GroupLabel className="menu-label">{group.label}</Combobox.GroupLabel>
                  <Combobox.Collection>
                    {(choice: Choice) => (
                      <Combobox.Item key={idOf(choice)} className="option" value={choice}>
                        {draw(choice)}
                      </Combobox.Item>
                    )}
                  </Combobox.Collection>
                </Combobox.Group>
              )}
            </Combobox.List>
            {footer}
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  )
}

/** Whether a text has every word of a search, in any order and case. */
export const matchesAll = (text: string, query: string): boolean => {
  const within = text.toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => within.includes(word))
}
