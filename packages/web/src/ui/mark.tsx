/** The logo. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 24 24" aria-hidden="true">
      <circle cx="12" cy="5.2" r="2.2" />
      <path d="M12 7.4V20M8 11h8M4.500 14c0 3.700 3.200 6 7.500 6s7.500-2.300 7.500-6" />
    </svg>
  )
}
