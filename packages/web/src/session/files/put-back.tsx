import { type CallFile, type CallView, escapeLine } from '@holdfast/protocol'
import { Fragment, useContext } from 'react'
import { DialogButton } from '../../ui/dialog-button.tsx'
import { ShownOnlyContext } from '../state/session-context.ts'
import { RestoreDialog } from './restore-dialog.tsx'

type PutBackProps = { readonly call: CallView['id']; readonly files: readonly CallFile[] }

/** Says that a command changed lines outside an edit boundary, and offers to put the files back as they were before it. */
export function PutBack({ call, files }: PutBackProps) {
  const isShownOnly = useContext(ShownOnlyContext)
  const paths = files.filter(({ outside }) => outside).map(({ path }) => path)
  if (paths.length === 0) return null
  const dialog = (close: () => void) => (
    <RestoreDialog request={{ call, paths }} title="as they were before this call" onClose={close} />
  )
  return (
    <div className="put-back" role="note">
      <p>
        It changed lines outside the edit boundary of{' '}
        {paths.map((path, place) => (
          <Fragment key={path}>
            {place > 0 && ', '}
            <code>{escapeLine(path)}</code>
          </Fragment>
        ))}
        .
      </p>
      {!isShownOnly && <DialogButton dialog={dialog}>Put back…</DialogButton>}
    </div>
  )
}
