import { useState } from 'react'
import { useKey } from '../../keys/use-key.ts'
import { ChangesDialog } from './changes-dialog.tsx'

/** Shows all changes of the session, when its key is pressed or it is chosen in the palette. */
export function ChangesByKey() {
  const [isOpen, setOpen] = useState(false)
  useKey('changes', () => setOpen(true))
  return isOpen && <ChangesDialog request={{}} title="All changes of this session" onClose={() => setOpen(false)} />
}
