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
