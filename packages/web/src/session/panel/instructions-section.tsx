import { escapeLine, type Fault, type InstructionFile } from '@holdfast/protocol'
import { useEffect, useState } from 'react'
import { FaultNote } from '../../ui/elements.tsx'
import { FileButton } from '../file-view/file-view.tsx'
import { useLive, useSession } from '../state/session-context.ts'
import { Loading, PanelSection } from './panel-section.tsx'

/** Lists the files of instructions, such as `AGENTS.md`, that the model is told. */
export function InstructionsSection({ workspace }: { readonly workspace: string }) {
  const { files, fault } = useInstructionFiles(workspace)
  return (
    <PanelSection title="Instructions">
      <FaultNote fault={fault} />
      {files === null && !fault && <Loading />}
      {files?.length === 0 && !fault && <p className="nothing">No AGENTS.md tells the model how to work here.</p>}
      <ul className="instructions">
        {files?.map((file) => (
          <li key={file.path}>
            {isOpenable(file) ? <FileButton path={file.path} /> : <code>{escapeLine(file.path)}</code>}
            <span className="panel-about">{aboutOf(file)}</span>
          </li>
        ))}
      </ul>
      {files !== null && files.length > 1 && <p className="nothing">Later ones count more.</p>}
    </PanelSection>
  )
}

/** Only files of the workdir can be shown. */
const isOpenable = ({ scope, path }: InstructionFile): boolean => scope === 'workspace' && !path.startsWith('../')

function aboutOf({ scope, importedBy, isCut }: InstructionFile): string {
  const whose = scope === 'user' ? 'yours' : 'of the workspace'
  return [importedBy === undefined ? whose : `imported by ${escapeLine(importedBy)}`, isCut ? 'cut' : []]
    .flat()
    .join(' · ')
}

type Listed = { readonly files: readonly InstructionFile[] | null; readonly fault: Fault | null }

/** Loads the list, again after each turn: the model may have read files of other folders. */
function useInstructionFiles(workspace: string): Listed {
  const { handle } = useSession()
  const [listed, setListed] = useState<Listed>({ files: null, fault: null })
  const status = useLive(({ view }) => view?.status)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the folder and what the model reads change the answer
  useEffect(() => {
    let isLeft = false
    handle.instructionFiles().then((found) => {
      if (isLeft) return
      setListed((known) =>
        found.ok ? { files: found.value, fault: null } : { files: known.files, fault: found.fault },
      )
    })
    return () => {
      isLeft = true
    }
  }, [handle, workspace, status])
  return listed
}
