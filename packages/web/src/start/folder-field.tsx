import { escapeLine } from '@holdfast/protocol'
import { SuggestField } from '../ui/combobox.tsx'
import { useFolderSuggestions } from './recent-folders.ts'

type FolderFieldProps = {
  /** Empty for the folder where the server was started. */
  readonly folder: string
  readonly onChange: (folder: string) => void
  readonly onFocus?: () => void
  readonly recent: readonly string[]
  readonly placeholder?: string
  readonly onEnter?: () => void
}

/** The folder to work in, with recent folders and those on the disk of the server. */
export function FolderField({ folder, onChange, onFocus, recent, placeholder, onEnter }: FolderFieldProps) {
  const suggestions = useFolderSuggestions(folder, recent)
  return (
    <SuggestField
      label="Folder"
      value={folder}
      onChange={onChange}
      suggestions={suggestions}
      draw={(path) => (
        <>
          <span className="option-path">{escapeLine(path)}</span>
          {recent.includes(path) && <span className="option-mark">recent</span>}
        </>
      )}
      {...(onFocus && { onFocus })}
      {...(onEnter && { onEnter })}
      {...(placeholder !== undefined && { placeholder })}
    />
  )
}
