import { escapeLine, type ModelList } from '@holdfast/protocol'
import { useMemo, useState } from 'react'
import { useKey } from '../keys/use-key.ts'
import { Picker } from '../ui/combobox.tsx'
import { KeyDialog } from './key-dialog.tsx'
import { abilitiesText, groupModels, type ModelChoice, modelTitle, priceText, searchedText } from './model-text.ts'
import { useServerFacts } from './server-context.ts'

type ModelPickerProps = {
  /** The chosen model; null for the default of the server. */
  readonly model: string | null
  readonly onChoose: (model: string) => void
  readonly isOff?: boolean
  /** Why it cannot be changed, or what it does. */
  readonly title?: string
  readonly side?: 'top' | 'bottom'
}

const nothing: ModelList = { models: [], providers: [] }

/** Chooses a model. One that needs a key leads to the form that adds it. */
export function ModelPicker({ model, onChoose, isOff = false, title, side = 'bottom' }: ModelPickerProps) {
  const { models, fault } = useServerFacts()
  const [isOpen, setOpen] = useState(false)
  useKey('model', () => setOpen(true), !isOff)
  const [wanted, setWanted] = useState<ModelChoice | null>(null)
  const groups = useMemo(() => groupModels(models ?? nothing), [models])
  const all = groups.flatMap(({ items }) => items)
  const chosen = all.find((one) => (model === null ? one.isDefault : one.model === model)) ?? null
  const shown = chosen ? modelTitle(chosen) : escapeLine(model ?? (fault ? 'not loaded' : 'the default'))
  const choose = (choice: ModelChoice) => {
    if (choice.unusable === null) onChoose(choice.model)
    else if (choice.needsKeyOf !== null) setWanted(choice)
  }
  return (
    <>
      <Picker
        trigger={
          <button type="button" className="chip" disabled={isOff} title={title}>
            <span className="chip-text">{shown}</span>
            <span aria-hidden="true">▾</span>
          </button>
        }
        label="Model"
        groups={groups}
        value={chosen}
        idOf={(one) => one.model}
        nameOf={modelTitle}
        textOf={searchedText}
        draw={(one) => <ModelRow choice={one} />}
        onChoose={choose}
        isOpen={isOpen}
        onOpen={setOpen}
        side={side}
        emptyText={fault ? escapeLine(fault.message) : 'No model matches. Clear the search to see all.'}
      />
      {wanted !== null && wanted.needsKeyOf !== null && (
        <KeyDialog
          provider={{ provider: wanted.needsKeyOf, title: wanted.providerTitle }}
          onSaved={() => onChoose(wanted.model)}
          onClose={() => setWanted(null)}
        />
      )}
    </>
  )
}

/** A model, with its price, context and abilities, or why it cannot be called. */
function ModelRow({ choice }: { readonly choice: ModelChoice }) {
  const { model, unusable, needsKeyOf, price, isDefault } = choice
  return (
    <>
      <span className="option-name">
        {modelTitle(choice)}
        {isDefault && <span className="option-mark">default</span>}
      </span>
      <code className="option-code">{escapeLine(model)}</code>
      <span className="menu-text">
        {[abilitiesText(choice), priceText(price)].filter((text) => text !== '').join(' · ')}
      </span>
      {unusable !== null && needsKeyOf === null && <span className="option-why">{escapeLine(unusable)}</span>}
    </>
  )
}
