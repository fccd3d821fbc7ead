#include "core/errors.hpp"

#include <stdexcept>

namespace mercer {

void refuse(const char* message) { throw std::invalid_argument(message); }

}  // namespace mercer
