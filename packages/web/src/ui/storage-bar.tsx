import type { LiveView } from '@holdfast/client'
import { escapeLine } from '@holdfast/protocol'

type StorageBarProps = { readonly error: NonNullable<LiveView['storageError']> }

/** Says that the store rejects writes. */
export function StorageBar({ error }: StorageBarProps) {
  return (
    <p className="fault" role="alert">
      {escapeLine(error.message)} The session goes on by itself once that is put right.
    </p>
  )
}
