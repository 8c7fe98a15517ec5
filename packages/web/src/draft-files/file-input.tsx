import { type ClipboardEvent, type DragEvent, type ReactNode, useRef, useState } from 'react'
import { showToast } from '../ui/toast.tsx'
import type { DraftFiles } from './use-draft-files.ts'

type DropAreaProps = {
  readonly draftFiles: DraftFiles
  readonly isOff: boolean
  readonly className: string
  /** Takes a pasted text back out of the input, because it becomes a file. */
  readonly onTakeOut: (text: string) => void
  readonly children: ReactNode
}

const longPasteChars = 8_000
const longPasteLines = 120

/** Whether a pasted text is better sent as a file. */
export const isLongPaste = (text: string): boolean =>
  text.length >= longPasteChars || text.split('\n', longPasteLines).length >= longPasteLines

/** An area that takes files by drop and paste. A long text that is pasted can become a file. */
export function DropArea({ draftFiles, isOff, className, onTakeOut, children }: DropAreaProps) {
  const [isOver, setOver] = useState(false)
  const hasFiles = (event: DragEvent) => !isOff && event.dataTransfer.types.includes('Files')
  const onDrop = (event: DragEvent) => {
    setOver(false)
    if (!hasFiles(event)) return
    event.preventDefault()
    event.stopPropagation() // areas may be inside each other
    draftFiles.add(event.dataTransfer.files)
  }
  const onPaste = (event: ClipboardEvent) => {
    if (isOff) return
    event.stopPropagation()
    if (event.clipboardData.files.length > 0) {
      event.preventDefault()
      return draftFiles.add(event.clipboardData.files)
    }
    const text = event.clipboardData.getData('text/plain')
    if (!isLongPaste(text)) return
    const asFile = () => {
      onTakeOut(text.replaceAll(/\r\n?/g, '\n')) // as the box holds it
      draftFiles.add([new File([text], 'pasted.txt', { type: 'text/plain' })])
    }
    showToast({ text: 'You pasted a long text.', action: { name: 'Attach it as a file', onChoose: asFile } })
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a drop has no keyboard; the button that picks files does the same
    <div
      className={isOver ? `${className} drop-over` : className}
      onDragOver={(event) => {
        if (!hasFiles(event)) return
        event.preventDefault()
        event.stopPropagation()
        setOver(true)
      }}
      onDragLeave={(event) => !event.currentTarget.contains(event.relatedTarget as Node | null) && setOver(false)}
      onDrop={onDrop}
      onPaste={onPaste}
    >
      {children}
      {isOver && (
        <p className="drop-hint" aria-hidden="true">
          Drop files to attach them
        </p>
      )}
    </div>
  )
}

/** A button that picks files. */
export function FileButton({ draftFiles, isOff }: Pick<DropAreaProps, 'draftFiles' | 'isOff'>) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <button
        type="button"
        className="quiet icon-button"
        aria-label="Attach files"
        title="Attach files. You can also drop or paste them."
        disabled={isOff}
        onClick={() => input.current?.click()}
      >
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M8 3v10M3 8h10" />
        </svg>
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          draftFiles.add(event.target.files ?? [])
          event.target.value = ''
        }}
      />
    </>
  )
}
