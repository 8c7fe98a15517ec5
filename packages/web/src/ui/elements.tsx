import type { LiveView } from '@holdfast/client'
import { escapeLine, type Fault } from '@holdfast/protocol'
import { Fragment, type ReactNode } from 'react'

/** The logo. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 24 24" aria-hidden="true">
      <circle cx="12" cy="5.2" r="2.2" />
      <path d="M12 7.4V20M8 11h8M4.500 14c0 3.700 3.200 6 7.500 6s7.500-2.300 7.500-6" />
    </svg>
  )
}

type ListButtonProps = { readonly onOpen: () => void }

/** Opens the session list on a narrow screen. */
export function ListButton({ onOpen }: ListButtonProps) {
  return (
    <button type="button" className="list-button quiet" aria-label="Show sessions" onClick={onOpen}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d="M3 5.500h14M3 10h14M3 14.500h14" />
      </svg>
    </button>
  )
}

type StorageBarProps = { readonly error: NonNullable<LiveView['storageError']> }

/** Says that the store rejects writes. */
export function StorageBar({ error }: StorageBarProps) {
  return (
    <p className="fault" role="alert">
      {escapeLine(error.message)} The session continues when the store accepts writes again.
    </p>
  )
}

/** Draws items without keys of their own. Items are only appended, so the index is a stable key. */
export const inOrder = <Item,>(items: readonly Item[], draw: (item: Item, index: number) => ReactNode): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: see above
  items.map((item, index) => <Fragment key={index}>{draw(item, index)}</Fragment>)

/** Says why something was refused; nothing when it was not. */
export const FaultNote = ({ fault }: { readonly fault: Fault | null }) =>
  fault && (
    <p className="fault" role="alert">
      {escapeLine(fault.message)}
    </p>
  )

/** Suggests values that were used before. */
export const Choices = ({ id, values }: { readonly id: string; readonly values: readonly string[] }) => (
  <datalist id={id}>
    {[...new Set(values)].slice(0, 12).map((value) => (
      <option key={value} value={value} />
    ))}
  </datalist>
)
